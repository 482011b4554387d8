// Watches whether the page lets a drag with data begin. Evaluates to an object of functions that take the element
// first. Runs in the isolated world beside `eyes`.
(() => {
  const { dom } = eyes;

  const toTheMiddle = (element) =>
    dom.scrollIntoView(element, { block: 'center', inline: 'nearest', behavior: 'instant' });

  // Known once the page has taken the moves that begin a drag.
  const listen = (element) => {
    globalThis.pilothouseDrag = { begun: false };
    dom.ownerDocument(element).defaultView.addEventListener('dragstart', (event) => {
      const drag = globalThis.pilothouseDrag;
      setTimeout(() => { drag.begun = !event.defaultPrevented; });
    }, { capture: true, once: true });
  };
  const hasBegun = () => new Promise((resolve) => setTimeout(() => resolve(globalThis.pilothouseDrag.begun)));

  return { toTheMiddle, listen, hasBegun };
})()
