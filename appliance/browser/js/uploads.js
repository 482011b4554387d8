// Finds where files belong and whether they may be dropped. Evaluates to an object of functions that take the element
// first. Runs in the isolated world beside `eyes`.
(() => {
  const { dom } = eyes;
  const isFile = (one) => !!one && dom.localName(one) === 'input' && one.type === 'file';
  // A form has no control of its own; what answers to that name there is one of its fields.
  const controlOf = (one) => (one && dom.localName(one) === 'label' ? one.control : null);

  // The file field that the element is, names or holds: often one that is hidden behind what is shown for it.
  const field = (element) => {
    const own = [element, controlOf(element), controlOf(dom.closest(element, 'label'))].find(isFile);
    const inside = dom.querySelectorAll(element, 'input[type=file]');
    return own || (inside.length === 1 ? inside[0] : null);
  };
  const takesSeveral = (element) => {
    const found = field(element);
    return found ? found.multiple : null;
  };
  const isDisabled = (element) => dom.matches(field(element) || element, ':disabled');

  // Whether the page says of what is dragged over it that it may be dropped there.
  const listen = (element) => {
    globalThis.pilothouseDrop = { taken: false };
    dom.ownerDocument(element).defaultView.addEventListener('dragover', (event) => {
      const drop = globalThis.pilothouseDrop;
      setTimeout(() => { drop.taken = event.defaultPrevented; });
    }, { capture: true, once: true });
  };
  const isTaken = () => new Promise((resolve) => setTimeout(() => resolve(globalThis.pilothouseDrop.taken)));

  return { field, takesSeveral, isDisabled, listen, isTaken };
})()
