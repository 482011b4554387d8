// Tells by what an element can be known again, and finds what may be a known element. Evaluates to an object of functions.
// Runs in an isolated world beside the script of observations (`eyes`).
(() => {
  const { squeeze, cut, dom } = eyes;
  const LONGEST = 160;
  const MOST = 400;
  const IDENTIFYING = ['id', 'name', 'aria-label', 'placeholder', 'href', 'data-testid', 'data-test', 'data-qa', 'data-cy'];
  const FURTHER = ['type', 'title', 'alt', 'for', 'role', 'rel', 'target', 'autocomplete', 'inputmode', 'aria-haspopup'];
  // What a click on anything inside is meant for.
  const CLICKED = 'a[href], button, input, select, textarea, summary, label, [onclick], [contenteditable], [role=button], [role=link], '
    + '[role=tab], [role=option], [role=checkbox], [role=radio], [role=switch], [role^=menuitem], [role=treeitem], [role=gridcell]';
  const CONTROLS = 'a, button, input, select, textarea, summary, label, [role], [tabindex], [onclick], [contenteditable]';

  // The text of a node as far as `most` characters: what holds a whole page is not read to its end.
  const textOf = (node, most) => {
    const walker = dom.ownerDocument(node).createTreeWalker(node, NodeFilter.SHOW_TEXT);
    let text = '';
    while (text.length <= most && walker.nextNode()) text += walker.currentNode.data;
    return squeeze(text);
  };

  const implied = (node) => {
    const tag = dom.localName(node);
    if (tag === 'a') return dom.hasAttribute(node, 'href') ? 'link' : '';
    if (tag === 'button' || tag === 'summary') return 'button';
    if (tag === 'select') return node.multiple ? 'listbox' : 'combobox';
    if (tag === 'textarea') return 'textbox';
    if (tag !== 'input') return '';
    if (/^(checkbox|radio)$/.test(node.type)) return node.type;
    return /^(submit|button|reset|image)$/.test(node.type) ? 'button' : 'textbox';
  };
  const roleOf = (node) => dom.getAttribute(node, 'role') || implied(node);

  // Labels by their controls, for each tree once: asking each control for its labels goes through the whole tree.
  const known = new Map();
  const labelsOf = (node) => {
    if (!/^(input|select|textarea)$/.test(dom.localName(node))) return [];
    const root = dom.getRootNode(node);
    let labels = known.get(root);
    if (!labels) {
      known.set(root, (labels = new Map()));
      for (const label of dom.querySelectorAll(root, 'label')) {
        if (label.control) labels.set(label.control, [...(labels.get(label.control) || []), label]);
      }
    }
    return labels.get(node) || [];
  };

  const nameOf = (node) => {
    const tag = dom.localName(node);
    const isField = /^(input|select|textarea)$/.test(tag);
    const labels = labelsOf(node);
    let name = eyes.controlName(node, labels.length ? labels : null);
    if (tag === 'input' && /^(submit|button|reset)$/.test(node.type)) name ||= node.value || node.type;
    if (!isField && !dom.getAttribute(node, 'aria-label') && !dom.getAttribute(node, 'aria-labelledby')) {
      name = textOf(node, 2 * LONGEST) || name || eyes.pictureName(node);
    }
    return cut(squeeze(name || dom.getAttribute(node, 'placeholder') || ''), LONGEST);
  };

  const attributesOf = (node) => {
    const found = {};
    for (const name of [...IDENTIFYING, ...FURTHER]) {
      const value = dom.getAttribute(node, name);
      if (value) found[name] = cut(value, 300);
    }
    return found;
  };

  const place = (node) => {
    let number = 1;
    for (let one = dom.previousElementSibling(node); one; one = dom.previousElementSibling(one)) {
      if (dom.localName(one) === dom.localName(node)) number += 1;
    }
    return number;
  };
  // The tags that lead to the element, with their places among their like; '#shadow' and '#frame' are borders.
  const pathOf = (node) => {
    const parts = [];
    for (let one = node; one; ) {
      parts.push(`${dom.localName(one)}[${place(one)}]`);
      if (dom.parentElement(one)) one = dom.parentElement(one);
      else if (dom.getRootNode(one).host) {
        parts.push('#shadow');
        one = dom.getRootNode(one).host;
      } else {
        const view = dom.ownerDocument(one).defaultView;
        const outer = view && view !== window ? view.frameElement : null;
        if (outer) parts.push('#frame');
        one = outer;
      }
    }
    return parts.reverse().join('/');
  };
  const follow = (path) => {
    let scope = document;
    for (const part of path.split('/')) {
      if (part === '#shadow') scope = eyes.knownRoot(scope);
      else if (part === '#frame') {
        try { scope = scope.contentDocument; } catch { return null; }
      } else {
        const [, tag, number] = /^(.+)\[(\d+)\]$/.exec(part) || [];
        let left = Number(number);
        scope = [...(dom.children(scope) || [])].find((one) => dom.localName(one) === tag && (left -= 1) === 0);
      }
      if (!scope) return null;
    }
    return scope;
  };

  // What stands around the element in the nearest box that says more than the element itself.
  const nearOf = (node) => {
    const own = textOf(node, 2 * LONGEST);
    let outer = dom.parentElement(node);
    for (let steps = 0; outer && steps < 5; steps += 1, outer = dom.parentElement(outer)) {
      if (dom.localName(outer) === 'body') return '';
      const text = textOf(outer, 1000 + own.length);
      if (text.length > 400 + own.length) return '';
      const rest = squeeze(own ? text.replace(own, ' ') : text);
      if (rest) return cut(rest, LONGEST);
    }
    return '';
  };

  const frameOf = (node) => {
    const view = dom.ownerDocument(node).defaultView;
    return !view || view === view.top ? '' : view.location.pathname;
  };
  const rootsOf = (start) => {
    const found = [start];
    for (let at = 0; at < found.length && at < 200; at += 1) {
      for (const one of found[at].querySelectorAll('*')) {
        const root = eyes.knownRoot(one);
        if (root) found.push(root);
        else if (dom.localName(one) === 'iframe' || dom.localName(one) === 'frame') {
          try { if (one.contentDocument) found.push(one.contentDocument); } catch { /* another origin */ }
        }
      }
    }
    return found;
  };

  const isForeign = (frame) => {
    try { return !frame.contentDocument; } catch { return true; }
  };

  const isTwin = (node, name) => {
    let seen = 0;
    if (/^(input|select|textarea)$/.test(dom.localName(node))) {
      for (const label of dom.getRootNode(node).querySelectorAll('label')) {
        if ((seen += 1) > 300) return false;
        if (label.control !== node && textOf(label, 2 * LONGEST) === name) return true;
      }
      return false;
    }
    for (const other of dom.getRootNode(node).querySelectorAll(dom.localName(node))) {
      if ((seen += 1) > 300) return false;
      if (other !== node && nameOf(other) === name) return true;
    }
    return false;
  };
  const opens = (node) => {
    const popup = dom.getAttribute(node, 'aria-haspopup');
    return (popup !== null && popup !== 'false') || dom.hasAttribute(node, 'aria-expanded') || dom.localName(node) === 'summary';
  };
  const keysOf = (node, name) => ({
    tag: dom.localName(node),
    role: roleOf(node),
    name,
    attributes: attributesOf(node),
    classes: [...node.classList].slice(0, 20),
    path: pathOf(node),
    frame: frameOf(node),
    near: nearOf(node),
    opens: opens(node),
  });
  const isUsable = (node) => {
    const shows = (one) => dom.checkVisibility(one, { visibilityProperty: true }) && dom.getClientRects(one).length > 0;
    return shows(node) || node.type === 'file' || labelsOf(node).some(shows);
  };

  const allKeysOf = (node) => {
    known.set(dom.getRootNode(node), new Map([[node, [...(dom.labels(node) || [])]]]));
    const name = nameOf(node);
    return { ...keysOf(node, name), twin: isTwin(node, name) };
  };
  // What lies at a point, through shadow roots and the frames that scripts can enter; the point is then one of its frame.
  const hitAt = (x, y) => {
    let hit = document.elementFromPoint(x, y);
    for (let depth = 0; hit && depth < 50; depth += 1) {
      let scope = eyes.knownRoot(hit);
      if (!scope && /^i?frame$/.test(dom.localName(hit)) && !isForeign(hit)) {
        scope = hit.contentDocument;
        ({ x, y } = inside(hit, x, y));
      }
      const inner = scope && scope.elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return { hit, x, y };
  };
  const inside = (frame, x, y) => {
    const box = dom.getBoundingClientRect(frame);
    const style = getComputedStyle(frame);
    return {
      x: x - box.left - frame.clientLeft - parseFloat(style.paddingLeft),
      y: y - box.top - frame.clientTop - parseFloat(style.paddingTop),
    };
  };

  return {
    // The keys of one element.
    of: allKeysOf,

    // The keys of what a click at a point is for, with the place in it; or the frame of another site there, to be asked.
    at: (_, px, py) => {
      const { hit, x, y } = hitAt(px, py);
      if (!hit) return {};
      if (/^i?frame$/.test(dom.localName(hit)) && isForeign(hit)) return { frame: eyes.refer(hit), ...inside(hit, x, y) };
      const node = dom.closest(hit, CLICKED) || hit;
      const box = dom.getBoundingClientRect(node);
      if (/^(html|body)$/.test(dom.localName(node)) || !box.width || !box.height) return {};
      const spot = [(x - box.left) / box.width, (y - box.top) / box.height];
      return { keys: { ...allKeysOf(node), spot } };
    },

    // Everything of this document that may be the element with these keys, each with a reference to act on it.
    candidates: (_, wanted) => {
      const byPath = follow(wanted.path);
      const named = IDENTIFYING.filter((name) => wanted.attributes[name]);
      const found = [];
      const seen = new Set();
      const consider = (node) => {
        if (seen.has(node)) return;
        seen.add(node);
        const sameTag = dom.localName(node) === wanted.tag;
        const isNamed = sameTag && named.some((name) => dom.getAttribute(node, name) === wanted.attributes[name]);
        let name = null;
        if (!isNamed && node !== byPath) {
          if (!sameTag && roleOf(node) !== wanted.role) return;
          name = nameOf(node);
          if (name !== wanted.name) return;
        }
        if (found.length < MOST) found.push({ reference: eyes.refer(node), usable: isUsable(node), keys: keysOf(node, name ?? nameOf(node)) });
      };
      if (byPath && dom.localName(byPath) === wanted.tag) consider(byPath);
      const frames = [];
      for (const root of rootsOf(document)) {
        for (const node of dom.querySelectorAll(root, `${CSS.escape(wanted.tag)}, ${CONTROLS}`)) consider(node);
        for (const frame of dom.querySelectorAll(root, 'iframe, frame')) if (isForeign(frame)) frames.push(eyes.refer(frame));
      }
      return { found, frames };
    },

    // Resolves at the next change of the document, after `cap` ms at the latest.
    changed: (_, cap) => new Promise((resolve) => {
      const done = () => {
        observer.disconnect();
        clearTimeout(timer);
        resolve(true);
      };
      const observer = new MutationObserver(done);
      const timer = setTimeout(done, cap);
      for (const root of rootsOf(document)) {
        observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
      }
    }),
  };
})()
