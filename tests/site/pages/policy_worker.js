// Asks for what it is told, as a service worker or any other.
addEventListener('message', (event) => fetch(event.data, { mode: 'no-cors' })
  .then(() => 'reached', () => 'refused').then((word) => event.source ? event.source.postMessage(word) : postMessage(word)));
