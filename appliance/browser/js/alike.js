// Finds elements that are like one that is gone, and those that lie over one. Evaluates to functions that take the
// element (or null) first and answer with references. Runs in the isolated world.
(() => {
  const { dom } = eyes;
  const CONTROL = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[role],[tabindex],[onclick]';
  const CLOSES = /close|dismiss|accept|agree|reject|decline|no,? thanks|got it|ok\b|skip|later|cancel|schlie|×|✕|^x$/i;
  const squeeze = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const isShown = (element) => dom.checkVisibility(element, { visibilityProperty: true }) && dom.getClientRects(element).length > 0;
  const namesOf = (element) => [dom.getAttribute(element, 'aria-label'), dom.innerText(element), element.value, element.placeholder, dom.title(element),
    dom.labels(element) && dom.labels(element)[0] && dom.labels(element)[0].innerText].map((text) => squeeze(String(text || '')).slice(0, 120));

  const roots = () => {
    const found = [];
    const add = (root) => {
      found.push(root);
      for (const one of dom.querySelectorAll(root, '*')) {
        const inner = found.length < 100 && eyes.knownRoot(one);
        if (inner) add(inner);
      }
    };
    add(document);
    return found;
  };

  const find = (_, tag, name, most) => {
    const found = [];
    for (const root of roots()) {
      for (const one of dom.querySelectorAll(root, tag)) {
        if (found.length < most && isShown(one) && (name ? namesOf(one).includes(name) : dom.matches(one, CONTROL))) found.push(eyes.refer(one));
      }
    }
    return found;
  };

  // The controls in what lies over the element, those that may close it first.
  const covers = (element) => {
    const box = dom.getClientRects(element)[0];
    if (!box) return [];
    const view = dom.ownerDocument(element).defaultView;
    const [x, y] = [Math.min(Math.max(box.x + box.width / 2, 0), view.innerWidth - 1), Math.min(Math.max(box.y + box.height / 2, 0), view.innerHeight - 1)];
    let cover = dom.ownerDocument(element).elementFromPoint(x, y);
    while (cover && !dom.contains(cover, element)) {
      const inner = eyes.knownRoot(cover)?.elementFromPoint(x, y);
      if (!inner || inner === cover) break;
      cover = inner;
    }
    if (!cover || dom.contains(cover, element) || dom.contains(element, cover)) return [];
    const around = [];
    for (let one = cover; one && !dom.contains(one, element); one = dom.parentElement(one)) around.push(one);
    const top = around[around.length - 1];
    const controls = [...around.filter((one) => dom.matches(one, CONTROL)), ...dom.querySelectorAll(top, CONTROL)].filter(isShown);
    const closing = controls.filter((one) => namesOf(one).some((name) => name.length < 40 && CLOSES.test(name)));
    return [...new Set([...closing, ...controls])].slice(0, 12).map((one) => eyes.refer(one));
  };

  return { find, covers };
})()
