// Tells what a document shows of captchas, and fills their fields. Evaluates to an object of functions.
// Runs in an isolated world beside the script of observations (`eyes`), only when a captcha is to be solved.
(() => {
  const { dom } = eyes;
  const LONGEST = 4000, MOST = 40;
  const ANSWERS = /captcha|verif|secur|code|answer|letters|characters|digits/i;
  const TEXT = /^(text|search|tel|number|)$/;

  const rootsOf = () => {
    const found = [document];
    for (let at = 0; at < found.length && at < 200; at += 1) {
      for (const one of found[at].querySelectorAll('*')) {
        const inner = eyes.knownRoot(one);
        if (inner) found.push(inner);
      }
    }
    return found;
  };
  const roots = rootsOf();
  const all = (selector) => roots.flatMap((root) => [...root.querySelectorAll(selector)]);
  const shows = (node) => dom.checkVisibility(node, { visibilityProperty: true, opacityProperty: true });

  const attributesOf = (node) => {
    const found = {};
    for (const name of dom.getAttributeNames(node)) found[name] = (dom.getAttribute(node, name) || '').slice(0, LONGEST);
    return found;
  };

  // The field that is meant for what a picture says: near it, for text, and by its name if there are several.
  const wordsOf = (field) => ['name', 'id', 'placeholder', 'aria-label', 'class', 'title'].map((name) => dom.getAttribute(field, name) || '')
    .concat([...(dom.labels(field) || [])].map((label) => dom.textContent(label))).join(' ');
  const fieldFor = (picture) => {
    let box = picture;
    for (let steps = 0; box && steps < 6; steps += 1, box = dom.parentElement(box) || dom.getRootNode(box).host) {
      const fields = [...dom.querySelectorAll(box, 'input')].filter((one) => TEXT.test(dom.getAttribute(one, 'type') || '') && shows(one));
      const named = fields.filter((one) => ANSWERS.test(wordsOf(one)));
      if (named.length) return named.find((one) => picture.compareDocumentPosition(one) & 4) || named[0];
      if (fields.length === 1 && (steps < 3 || dom.localName(box) === 'form')) return fields[0];
      if (dom.localName(box) === 'form') return null;
    }
    return null;
  };

  const describe = (selector, node) => {
    const box = dom.getBoundingClientRect(node);
    const isPicture = /^(img|canvas|svg)$/.test(dom.localName(node));
    const field = isPicture ? fieldFor(node) : null;
    return {
      selector, tag: dom.localName(node), attributes: attributesOf(node), is_visible: shows(node),
      width: box.width, height: box.height, reference: eyes.refer(node), near_field: field ? eyes.refer(field) : 0,
    };
  };

  // Where the document has its frames and scripts from, and what it has asked for since.
  const addressesOf = () => {
    const parts = all('iframe[src], frame[src], script[src], embed[src]').map((one) => one.src);
    return [...new Set([...parts, ...performance.getEntriesByType('resource').map((one) => one.name)])]
      .filter((one) => typeof one === 'string').map((one) => one.slice(0, LONGEST));
  };
  const fitting = (addresses, patterns) => {
    const wanted = patterns.map((one) => new RegExp(one, 'i'));
    return addresses.filter((address) => wanted.some((one) => one.test(address))).slice(-MOST);
  };

  const sourcesOf = (scripts, patterns) => {
    const found = [];
    for (const text of scripts) {
      for (const pattern of patterns) {
        for (const match of text.matchAll(new RegExp(pattern, 'gi'))) {
          if (found.length < MOST) found.push(text.slice(match.index, match.index + LONGEST));
        }
      }
    }
    return found;
  };

  return {
    // What the document shows of each of the things that are looked for.
    traces: (_, wanted) => {
      const addresses = addressesOf();
      const scripts = [...document.querySelectorAll('script:not([src])')].map((one) => dom.textContent(one));
      return wanted.map((one) => ({
        elements: one.elements.flatMap((selector) => all(selector).slice(0, MOST).map((node) => describe(selector, node))),
        addresses: fitting(addresses, one.addresses),
        sources: sourcesOf(scripts, one.sources),
      }));
    },

    // Fills the fields, hidden ones as well, and returns for each entry the names of those that hold the value now.
    fill: (_, fills) => fills.map(({ selector, value, holder, name }) => {
      let fields = all(selector);
      if (!fields.length && holder) {
        fields = all(holder).slice(0, 1).map((box) => {
          const field = Object.assign(document.createElement('textarea'), { name, hidden: true });
          dom.append(box, field);
          return field;
        });
      }
      for (const field of fields) {
        field.value = value;
        for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, { bubbles: true, composed: true }));
      }
      return [...new Set(fields.filter((one) => one.value === value).map((one) => dom.getAttribute(one, 'name') || dom.id(one) || dom.localName(one)))];
    }),
  };
})()
