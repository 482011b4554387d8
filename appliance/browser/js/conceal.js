// Shows dots in the place of every text and field value that holds one of the given values, in this document, its
// shadow roots and its frames of the same origin. Runs in the isolated world.
(values) => {
  const holds = (text) => !!text && values.some((value) => text.includes(value));
  const hide = (element) => {
    if (element.style && element.style.getPropertyValue('-webkit-text-security') !== 'disc')
      element.style.setProperty('-webkit-text-security', 'disc', 'important');
  };
  const look = (root) => {
    const nodes = (root.ownerDocument || root).createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) {
        // What stands in a shadow root itself takes its looks from the host.
        if (holds(node.data)) hide(node.parentElement || root.host);
        continue;
      }
      if ((node.localName === 'input' || node.localName === 'textarea') && holds(node.value)) hide(node);
      const inside = eyes.knownRoot(node);
      if (inside) look(inside);
      if (node.localName === 'iframe' || node.localName === 'frame') {
        let inner = null;
        try { inner = node.contentDocument; } catch { /* of another origin: looked at by itself */ }
        if (inner) look(inner);
      }
    }
  };
  look(document);
}
