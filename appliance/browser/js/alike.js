// Finds elements that are like one that is gone, and those that lie over one. Evaluates to functions that take the
// element (or null) first and answer with references. Runs in the isolated world.
(() => {
  const CONTROL = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[role],[tabindex],[onclick]';
  const CLOSES = /close|dismiss|accept|agree|reject|decline|no,? thanks|got it|ok\b|skip|later|cancel|schlie|×|✕|^x$/i;
  const squeeze = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  const namesOf = (element) => [element.getAttribute('aria-label'), element.innerText, element.value, element.placeholder, element.title,
    element.labels && element.labels[0] && element.labels[0].innerText].map((text) => squeeze(String(text || '')).slice(0, 120));

  const roots = () => {
    const found = [];
    const add = (root) => {
      found.push(root);
      for (const one of root.querySelectorAll('*')) {
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
      for (const one of root.querySelectorAll(tag)) {
        if (found.length < most && isShown(one) && (name ? namesOf(one).includes(name) : one.matches(CONTROL))) found.push(eyes.refer(one));
      }
    }
    return found;
  };

  // The controls in what lies over the element, those that may close it first.
  const covers = (element) => {
    const box = element.getClientRects()[0];
    if (!box) return [];
    const view = element.ownerDocument.defaultView;
    const [x, y] = [Math.min(Math.max(box.x + box.width / 2, 0), view.innerWidth - 1), Math.min(Math.max(box.y + box.height / 2, 0), view.innerHeight - 1)];
    let cover = element.ownerDocument.elementFromPoint(x, y);
    while (cover && !cover.contains(element)) {
      const inner = eyes.knownRoot(cover)?.elementFromPoint(x, y);
      if (!inner || inner === cover) break;
      cover = inner;
    }
    if (!cover || cover.contains(element) || element.contains(cover)) return [];
    const around = [];
    for (let one = cover; one && !one.contains(element); one = one.parentElement) around.push(one);
    const top = around[around.length - 1];
    const controls = [...around.filter((one) => one.matches(CONTROL)), ...top.querySelectorAll(CONTROL)].filter(isShown);
    const closing = controls.filter((one) => namesOf(one).some((name) => name.length < 40 && CLOSES.test(name)));
    return [...new Set([...closing, ...controls])].slice(0, 12).map((one) => eyes.refer(one));
  };

  return { find, covers };
})()
