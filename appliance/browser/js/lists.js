// Reads lists of choices: a select, a datalist, what ARIA says is a list, or what opened when a control was clicked.
// Evaluates to functions that take the control first. Runs in the isolated world.
(() => {
  const { dom } = eyes;
  const store = (globalThis.pilothouseLists ??= { control: null, lists: new Set(), leaves: new Set() });
  const OPTION = '[role=option],[role=menuitem],[role=menuitemradio],[role=menuitemcheckbox],[role=treeitem],[role=radio]';
  const LIST = '[role=listbox],[role=menu],[role=tree],[role=radiogroup]';
  const TEXT_FIELD = 'input:not([type]),input[type=text],input[type=search],textarea';
  const MOST_LEAVES = 6000;
  const FRAME_MS = 15;
  const RENDER_MS = 120;
  const LOAD_MS = 700;

  const squeeze = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const isShown = (element) =>
    dom.checkVisibility(element, { visibilityProperty: true, opacityProperty: true }) && dom.getClientRects(element).length > 0;
  const up = (node) => dom.assignedSlot(node) || dom.parentElement(node) || (dom.getRootNode(node).host ?? null);

  // The control's document with its shadow roots; a popup may be anywhere in it.
  const roots = (element) => {
    const found = [];
    const add = (root) => {
      found.push(root);
      for (const one of dom.querySelectorAll(root, '*')) {
        const inner = found.length < 200 && eyes.knownRoot(one);
        if (inner) add(inner);
      }
    };
    add(dom.ownerDocument(element));
    // Its own root, should that be known from within only.
    if (!found.includes(dom.getRootNode(element))) add(dom.getRootNode(element));
    return found;
  };
  const deep = (element, selector) => {
    const found = [...dom.querySelectorAll(element, selector)];
    for (const one of [element, ...dom.querySelectorAll(element, '*')]) {
      const root = eyes.knownRoot(one);
      if (root) found.push(...deep(root, selector));
    }
    return found;
  };
  const controlOf = (element) => {
    if (dom.matches(element, 'select,input')) return element;
    if (dom.localName(element) === 'label' && element.control) return element.control;
    const inner = deep(element, 'select');
    return inner.length === 1 ? inner[0] : element;
  };

  const shownLists = (element) => roots(element).flatMap((root) => [...root.querySelectorAll(LIST)]).filter(isShown);
  const isLeaf = (element) => [...dom.childNodes(element)].some((node) => dom.nodeType(node) === 3 && node.data.trim());
  const shownLeaves = (element) => {
    const found = [];
    for (const root of roots(element)) {
      for (const one of dom.querySelectorAll(root, 'li,a,button,div,span,p,td,label')) {
        if (found.length > MOST_LEAVES) return found;
        if (isLeaf(one) && isShown(one)) found.push(one);
      }
    }
    return found;
  };

  // Remembers what shows before the control is clicked, so that what opens can be told from the rest.
  const mark = (element) => {
    store.control = element;
    store.lists = new Set(shownLists(element));
    store.leaves = new Set(shownLeaves(element));
  };

  const referred = (element) => {
    const holder = dom.matches(element, '[aria-controls],[aria-owns]') ? element : deep(element, '[aria-controls],[aria-owns]')[0];
    const ids = holder ? `${dom.getAttribute(holder, 'aria-controls') || ''} ${dom.getAttribute(holder, 'aria-owns') || ''}`.split(/\s+/) : [];
    for (const id of ids.filter(Boolean)) {
      for (const root of [dom.getRootNode(holder), ...roots(element)]) {
        const list = root.getElementById ? root.getElementById(id) : null;
        if (!list || !isShown(list)) continue;
        if (dom.matches(list, LIST)) return list;
        const inner = deep(list, LIST).find(isShown);
        if (inner || dom.querySelector(list, OPTION)) return inner || list;
      }
    }
    return null;
  };
  const expanded = (element) => [element, ...deep(element, '[aria-expanded]')].some((one) => dom.getAttribute(one, 'aria-expanded') === 'true');

  const listOf = (element) => {
    const own = referred(element);
    if (own) return own;
    const around = dom.closest(element, LIST);
    if (around && !dom.matches(element, '[aria-haspopup],[aria-expanded]')) return around;
    const inside = deep(element, LIST).filter(isShown)[0];
    if (inside) return inside;
    const shown = shownLists(element);
    const fresh = store.control === element ? shown.filter((list) => !store.lists.has(list) && list !== around) : [];
    if (fresh.length) return fresh[fresh.length - 1];
    return expanded(element) && shown.length ? shown[shown.length - 1] : null;
  };

  const optionOf = (node) => ({
    node, text: squeeze(dom.getAttribute(node, 'aria-label') || dom.innerText(node)), value: dom.getAttribute(node, 'data-value') || '',
    chosen: ['aria-selected', 'aria-checked'].some((name) => dom.getAttribute(node, name) === 'true'),
    disabled: dom.getAttribute(node, 'aria-disabled') === 'true' || dom.matches(node, ':disabled'),
    group: squeeze(dom.closest(node, '[role=group][aria-label]')?.getAttribute('aria-label')),
  });
  const inList = (list) => {
    let options = deep(list, OPTION).filter(isShown);
    if (!options.length) options = [...dom.children(list)].filter((child) => isShown(child) && squeeze(dom.innerText(child)));
    return options.map(optionOf).filter((entry) => entry.text);
  };
  // A list that says nothing of itself: what has come into view since the mark.
  const arrived = (element) => {
    const fresh = shownLeaves(element).filter((leaf) => !store.leaves.has(leaf) && leaf !== element && !dom.contains(leaf, element));
    return fresh.length > 200 ? [] : fresh.map((leaf) => ({ ...optionOf(leaf), node: dom.closest(leaf, 'li,a,button,[tabindex],[onclick]') || leaf }));
  };

  const look = (element) => {
    const control = controlOf(element);
    if (dom.localName(control) === 'select') return { kind: 'native', control, list: control };
    const list = listOf(element);
    if (list) return { kind: 'aria', control, list };
    if (control.list) return { kind: 'datalist', control, list: control.list };
    return { kind: 'plain', control, list: null };
  };
  const entriesOf = (element) => {
    const { kind, control, list } = look(element);
    if (kind === 'aria') return inList(list);
    if (kind === 'plain') return store.control === element ? arrived(element) : [];
    return [...list.options].map((option) => {
      const group = option.parentElement.localName === 'optgroup' ? option.parentElement : null;
      return {
        node: option, text: squeeze(kind === 'native' ? option.label || option.text : option.label || option.value), value: option.value,
        chosen: kind === 'native' ? option.selected : control.value === option.value,
        disabled: option.disabled || (!!group && group.disabled), group: group ? group.label : '',
      };
    });
  };

  // Whether something that showed at the mark has gone: the click closed what was open.
  const hasClosed = () => [...store.lists, ...store.leaves].some((one) => !dom.isConnected(one) || !isShown(one));
  const forget = () => { store.control = null; };

  const bare = (entries) => entries.map(({ node, ...entry }) => ({ at: 0, ...entry }));
  const options = (element) => {
    const { kind, control, list } = look(element);
    return {
      kind,
      multiple: kind === 'native' ? control.multiple : kind === 'aria' && (dom.getAttribute(list, 'aria-multiselectable') === 'true' || !!dom.querySelector(list, '[role=menuitemcheckbox]')),
      disabled: dom.matches(control, ':disabled') || dom.getAttribute(control, 'aria-disabled') === 'true',
      entries: bare(entriesOf(element)),
    };
  };

  const scrollerOf = (list) => {
    const scrolls = (one) => dom.scrollHeight(one) > dom.clientHeight(one) + 1 && /auto|scroll|overlay/.test(getComputedStyle(one).overflowY);
    if (!list) return null;
    const inside = deep(list, '*').find(scrolls);
    if (scrolls(list) || inside) return scrolls(list) ? list : inside;
    for (let one = up(list), steps = 0; one && steps < 4 && dom.localName(one) !== 'body'; one = up(one), steps++) if (scrolls(one)) return one;
    return null;
  };
  // Resolves to whether the list was drawn anew within so many milliseconds.
  const drawn = (node, most) => new Promise((resolve) => {
    let quiet = 0;
    const end = (changed) => { observer.disconnect(); clearTimeout(cap); clearTimeout(quiet); resolve(changed); };
    const cap = setTimeout(() => end(false), most);
    const observer = new MutationObserver(() => { clearTimeout(cap); clearTimeout(quiet); quiet = setTimeout(() => end(true), FRAME_MS); });
    observer.observe(node, { subtree: true, childList: true, characterData: true, attributes: true });
  });

  // Every entry of a list that draws or loads only some at a time, by scrolling through it; `at` is where each was.
  const scan = async (element, milliseconds) => {
    const { kind, list } = look(element);
    const scroller = kind === 'aria' ? scrollerOf(list) : null;
    const seen = new Map();
    const take = () => {
      for (const { node, ...entry } of entriesOf(element)) {
        const key = `${entry.group}\n${entry.text}\n${entry.value}`;
        if (!seen.has(key)) seen.set(key, { ...entry, at: scroller ? dom.scrollTop(scroller) : 0 });
      }
    };
    take();
    if (!scroller) return { ...options(element), entries: [...seen.values()], complete: true };
    const end = performance.now() + milliseconds;
    const start = dom.scrollTop(scroller);
    const to = async (top, most) => { scroller.scrollTo({ top, behavior: 'instant' }); const changed = await drawn(scroller, most); take(); return changed; };
    if (start) await to(0, RENDER_MS);
    let complete = false;
    while (!complete && performance.now() < end) {
      const before = dom.scrollTop(scroller);
      const boxes = entriesOf(element).map((entry) => dom.getBoundingClientRect(entry.node));
      const isWhole = boxes.length > 0 && boxes[boxes.length - 1].bottom - boxes[0].top > dom.scrollHeight(scroller) * 0.9;
      const isEnd = before + dom.clientHeight(scroller) >= dom.scrollHeight(scroller) - 1;
      if (isEnd) complete = !(await drawn(scroller, LOAD_MS)) && before + dom.clientHeight(scroller) >= dom.scrollHeight(scroller) - 1;
      else await to(isWhole ? dom.scrollHeight(scroller) : before + Math.max(40, dom.clientHeight(scroller) * 0.8), RENDER_MS);
      take();
    }
    if (dom.scrollTop(scroller) !== start) await to(start, RENDER_MS);
    return { ...options(element), entries: [...seen.values()], complete };
  };

  // The node of an entry, scrolled to where it was seen.
  const node = async (element, entry) => {
    const same = () => entriesOf(element).find((one) => one.text === entry.text && one.value === entry.value && one.group === entry.group);
    let found = same();
    if (!found) {
      const { kind, list } = look(element);
      const scroller = kind === 'aria' ? scrollerOf(list) : null;
      if (!scroller) return null;
      scroller.scrollTo({ top: entry.at, behavior: 'instant' });
      await drawn(scroller, RENDER_MS);
      found = same();
    }
    return found ? eyes.refer(found.node) : null;
  };

  const choose = (element, positions) => {
    const field = controlOf(element);
    const wanted = new Set(positions);
    field.focus({ preventScroll: true });
    const before = [...field.options].map((option) => option.selected);
    if (field.multiple) [...field.options].forEach((option, at) => { option.selected = wanted.has(at); });
    else field.selectedIndex = positions[0];
    const changed = [...field.options].some((option, at) => option.selected !== before[at]);
    if (changed) {
      field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
      field.dispatchEvent(new Event('change', { bubbles: true }));
    }
    return changed;
  };

  // The field that narrows the list down: the control itself, one beside the list, or the one that has the focus.
  const searchField = (element) => {
    const usable = (one) => one && dom.matches(one, TEXT_FIELD) && !one.readOnly && !one.disabled && isShown(one);
    if (usable(element)) return eyes.refer(element);
    const { list } = look(element);
    const beside = [];
    for (let one = list && dom.localName(list) !== 'select' && up(list), steps = 0; one && steps < 3 && dom.localName(one) !== 'body'; one = up(one), steps++)
      beside.push(...deep(one, TEXT_FIELD));
    let active = dom.ownerDocument(element).activeElement;
    while (active && eyes.knownRoot(active)?.activeElement) active = eyes.knownRoot(active).activeElement;
    const found = [...deep(element, TEXT_FIELD), ...beside.slice(0, 1), ...(active ? [active] : [])].find(usable);
    return found ? eyes.refer(found) : null;
  };

  return { mark, hasClosed, forget, options, scan, node, choose, searchField };
})()
