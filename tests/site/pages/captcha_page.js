// What the pages with captchas have in common. With `?nokey` the page does not tell its key.
const noKey = new URLSearchParams(location.search).has('nokey');
if (noKey) for (const one of document.querySelectorAll('[data-sitekey]')) one.removeAttribute('data-sitekey');
const say = (text) => { document.getElementById('log').textContent += ` ${text};`; };
// Asks as such libraries do: by a script that is taken out again once it has come.
const ask = (address) => {
  const script = Object.assign(document.createElement('script'), { src: address, onload: () => script.remove() });
  document.head.append(script);
};
// The site takes nothing but the solution that the service makes of what this page told it.
const judge = (token, secret) => say(token === `solved:${secret}` ? 'accepted' : `refused ${token}`);
