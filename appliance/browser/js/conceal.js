// Shows dots in the place of every text and field value that holds one of the given values, in this document, its
// shadow roots and its frames of the same origin: whatever its case, and also where it is parted over several elements
// or by characters that cannot be seen. Runs in the isolated world.
(values) => {
  const { dom } = eyes;
  const APART = /[\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+/g;
  // Shorter ones are looked for in one text alone, or they would be found in any two.
  const PARTED = 6;
  const plain = (text) => text.toLowerCase().replace(APART, '');
  const wanted = values.map((value) => ({ value: value.toLowerCase(), whole: plain(value) })).filter((one) => one.whole);
  const shortest = Math.min(...wanted.map((one) => one.whole.length));
  const holds = (text) => {
    if (!text || text.length < shortest) return false;
    const lower = text.toLowerCase();
    if (wanted.some((one) => lower.includes(one.value))) return true;
    const bare = plain(lower);
    return bare.length < lower.length && wanted.some(({ whole }) => whole.length >= PARTED && bare.includes(whole));
  };
  const cover = (element, name, value) => {
    const style = dom.style(element);
    if (style && style.getPropertyValue(name) !== value) style.setProperty(name, value, 'important');
  };
  const hide = (element) => cover(element, '-webkit-text-security', 'disc');
  // What is drawn from an attribute or a list of choices takes no dots; it is not drawn at all.
  const blank = (element) => cover(element, '-webkit-text-fill-color', 'transparent');
  const FIELDS = /^(input|textarea)$/;
  const DRAWN = ['::before', '::after', '::marker'];

  const lookAt = (element) => {
    if (FIELDS.test(dom.localName(element))) {
      if (holds(element.value)) hide(element);
      if (holds(element.placeholder)) blank(element);
    } else if (dom.localName(element) === 'select' && holds(element.textContent)) blank(element);
    else if (dom.localName(element) === 'img' && holds(element.alt)) {
      blank(element);
      // In a file of the page it would be text all the same.
      cover(element, 'content', 'url("data:image/svg+xml,<svg xmlns=\'http://www.w3.org/2000/svg\'/>")');
    }
    for (const { value } of dom.attributes(element))
      if (holds(value) && DRAWN.some((part) => holds(getComputedStyle(element, part).content))) hide(element);
  };

  const hideParted = (texts) => {
    const ends = [];
    let all = '';
    for (const node of texts) ends.push((all += plain(node.data)).length);
    for (const { whole } of wanted) {
      if (whole.length < PARTED) continue;
      for (let at = all.indexOf(whole), n = 0; at >= 0; at = all.indexOf(whole, at + 1))
        for (n = ends.findIndex((end) => end > at); n >= 0 && n < ends.length && (n ? ends[n - 1] : 0) < at + whole.length; n++)
          hide(texts[n].parentElement || texts[n].getRootNode().host);
    }
  };

  const look = (root) => {
    const nodes = (dom.ownerDocument(root) || root).createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    const texts = [];
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      if (dom.nodeType(node) === Node.TEXT_NODE) {
        if (node.data.trim()) texts.push(node);
        // What stands in a shadow root itself takes its looks from the host.
        if (holds(node.data)) hide(dom.parentElement(node) || root.host);
        continue;
      }
      lookAt(node);
      const inside = eyes.knownRoot(node);
      if (inside) look(inside);
      if (dom.localName(node) === 'iframe' || dom.localName(node) === 'frame') {
        let inner = null;
        try { inner = node.contentDocument; } catch { /* of another origin: looked at by itself */ }
        if (inner) look(inner);
      }
    }
    hideParted(texts);
  };
  if (wanted.length) look(document);
}
