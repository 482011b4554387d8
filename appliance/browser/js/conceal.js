// Shows dots in the place of every text and field value that holds one of the given values, in this document, its
// shadow roots and its frames of the same origin. Returns how many were found.
(values) => {
  const holds = (text) => !!text && values.some((value) => text.includes(value));
  let found = 0;
  const hide = (element) => {
    found += 1;
    if (element.style && element.style.getPropertyValue('-webkit-text-security') !== 'disc')
      element.style.setProperty('-webkit-text-security', 'disc', 'important');
  };
  const look = (root) => {
    const walker = root.ownerDocument || root;
    const nodes = walker.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) {
        if (holds(node.data) && node.parentElement) hide(node.parentElement);
        continue;
      }
      if ((node.localName === 'input' || node.localName === 'textarea') && holds(node.value)) hide(node);
      if (node.shadowRoot) look(node.shadowRoot);
      if (node.localName === 'iframe' || node.localName === 'frame') {
        let inner = null;
        try { inner = node.contentDocument; } catch { /* of another site: looked at in its own session */ }
        if (inner) look(inner);
      }
    }
  };
  look(document);
  return found;
}
