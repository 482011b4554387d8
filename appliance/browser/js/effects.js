// Measures what an action does to a page. Evaluates to {begin, end}: `begin` takes a snapshot and starts watching,
// `end` says what is different. Runs in the isolated world, so that the page can neither see nor spoil it.
(() => {
  const { dom } = eyes;
  const store = (globalThis.pilothouseEffects ??= { watch: null });
  const INTERACTIVE =
    'a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=""],[contenteditable=true],' +
    '[role=button],[role=link],[role=option],[role=menuitem],[role=menuitemcheckbox],[role=menuitemradio],[role=tab],' +
    '[role=checkbox],[role=radio],[role=switch],[role=combobox],[role=textbox],[role=treeitem],[tabindex]:not([tabindex="-1"])';
  const POPUP = 'dialog,[role=dialog],[role=alertdialog],[role=listbox],[role=menu],[aria-modal=true],[popover]';
  const FIELD = 'input,select,textarea';
  // The snapshot of a large page may take so long; of one too large for it only what came and went is told.
  const LARGE = 3000;
  const BUDGET_MS = 12;

  const squeeze = (text, length = 80) => {
    const flat = (text || '').replace(/\s+/g, ' ').trim();
    return flat.length > length ? flat.slice(0, length - 1) + '…' : flat;
  };
  const isShown = (element) =>
    dom.checkVisibility(element, { visibilityProperty: true }) && dom.getClientRects(element).length > 0;
  // Not the content of fields: that is their value, and no name.
  const nameOf = (element) => {
    const isButton = /^(button|submit|reset)$/.test(element.type);
    const isField = (dom.matches(element, FIELD) && !isButton) || dom.isContentEditable(element);
    const label = dom.labels(element) && dom.labels(element)[0];
    const own = isField ? label && label.firstChild && (label.innerText || '') : (isButton && element.value) || dom.innerText(element);
    return squeeze(dom.getAttribute(element, 'aria-label') || own || element.placeholder || dom.title(element) || element.name || '', 50);
  };
  const wordOf = (element) => {
    const tag = dom.localName(element);
    const role = dom.getAttribute(element, 'role');
    if (role) return role;
    if (tag === 'a') return 'link';
    if (tag === 'input') return /^(checkbox|radio)$/.test(element.type) ? element.type : /^(button|submit|reset|image)$/.test(element.type) ? 'button' : 'field';
    if (tag === 'textarea' || dom.isContentEditable(element)) return 'field';
    return tag;
  };
  const described = (element) => {
    const name = nameOf(element);
    return name ? `${wordOf(element)} "${name}"` : wordOf(element);
  };

  // A label stands for its control, a wrapper for the one box in it.
  const controlOf = (element) => {
    if (dom.localName(element) === 'label' && element.control) return element.control;
    const label = dom.closest(element, 'label');
    if (label && label.control && !dom.matches(element, 'a[href],button,input,select,textarea')) return label.control;
    const boxes = dom.matches(element, FIELD) ? [] : dom.querySelectorAll(element, 'input[type=checkbox],input[type=radio]');
    return boxes.length === 1 ? boxes[0] : element;
  };

  const stateOf = (element) => {
    const state = {};
    if (element.type === 'checkbox' || element.type === 'radio') state.checked = element.indeterminate ? 'mixed' : String(element.checked);
    else if (dom.localName(element) === 'select') state.chosen = [...element.selectedOptions].map((option) => squeeze(option.text)).join(', ');
    else if (dom.matches(element, 'textarea') || (dom.localName(element) === 'input' && !/^(button|submit|reset|image|hidden|file)$/.test(element.type)))
      state.value = element.type === 'password' ? `${element.value.length} characters` : squeeze(element.value);
    for (const name of ['aria-expanded', 'aria-pressed', 'aria-selected', 'aria-checked', 'aria-current', 'aria-busy']) {
      const value = dom.getAttribute(element, name);
      if (value !== null) state[name.slice(5)] = value;
    }
    const details = dom.localName(element) === 'summary' ? dom.parentElement(element) : null;
    if (details && dom.localName(details) === 'details') state.open = String(details.open);
    state.disabled = String(dom.matches(element, ':disabled') || dom.getAttribute(element, 'aria-disabled') === 'true');
    return state;
  };

  const documentsOf = (element) => {
    const own = element ? dom.ownerDocument(element) : document;
    const documents = [own];
    try {
      const top = own.defaultView.top.document;
      if (top !== own) documents.push(top);
    } catch { /* another origin */ }
    return documents;
  };

  // Closed roots are known where the page has been looked at.
  const shadowOf = (element) => dom.shadowRoot(element) || (globalThis.eyes && eyes.knownRoot(element)) || null;

  // The document, the shadow roots in it, and the documents of frames of the same origin.
  const rootsOf = (documents) => {
    const roots = [];
    const add = (root, depth) => {
      if (!root || roots.includes(root) || depth > 6 || roots.length > 200) return;
      roots.push(root);
      const elements = dom.querySelectorAll(root, '*');
      if (elements.length > 30000) return;
      for (const element of elements) {
        const shadow = shadowOf(element);
        if (shadow) add(shadow, depth + 1);
        else if (dom.localName(element) === 'iframe' || dom.localName(element) === 'frame') {
          try { add(element.contentDocument, depth + 1); } catch { /* another origin */ }
        }
      }
    };
    for (const one of documents) add(one, 0);
    return roots;
  };

  const activeIn = (one) => {
    let active = one.activeElement;
    for (let inner; active && (inner = shadowOf(active)?.activeElement);) active = inner;
    return active;
  };

  // The pieces of text that show, each with an element it is in.
  const addTexts = (lines, top, end = Infinity) => {
    const walker = (dom.ownerDocument(top) || document).createTreeWalker(top, NodeFilter.SHOW_TEXT);
    let holder = null;
    let shows = false;
    let count = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if ((++count & 63) === 0 && performance.now() > end) return false;
      const text = squeeze(node.data, 120);
      if (!text || !dom.parentElement(node)) continue;
      if (dom.parentElement(node) !== holder) {
        holder = dom.parentElement(node);
        shows = !/^(script|style|noscript|template|option)$/.test(dom.localName(holder)) && dom.checkVisibility(holder, { visibilityProperty: true });
      }
      if (shows) lines.set(text, holder);
    }
    return true;
  };

  const snapshot = (element, roots, previous) => {
    const size = roots.reduce((sum, root) => sum + dom.querySelectorAll(root, '*').length, 0);
    const end = size > LARGE ? performance.now() + BUDGET_MS : Infinity;
    let complete = true;
    const shown = new Set();
    const popups = new Set();
    const fields = new Map();
    const frames = [];
    for (const root of roots) {
      const candidates = dom.querySelectorAll(root, INTERACTIVE);
      for (let at = 0; at < candidates.length; at++) {
        if (isShown(candidates[at])) shown.add(candidates[at]);
        if ((at & 63) === 63 && performance.now() > end) { complete = false; break; }
      }
      for (const popup of dom.querySelectorAll(root, POPUP)) if (isShown(popup)) popups.add(popup);
      for (const field of dom.querySelectorAll(root, FIELD)) {
        if (fields.size > 1000) break;
        fields.set(field, field.type === 'checkbox' || field.type === 'radio' ? String(field.checked) : field.value);
      }
      for (const frame of dom.querySelectorAll(root, 'iframe,frame')) {
        let address = frame.src;
        try { address = frame.contentDocument ? frame.contentDocument.URL : address; } catch { /* another origin */ }
        frames.push(address);
      }
    }
    const lines = new Map();
    for (const root of roots) complete = complete && addTexts(lines, root.body || root, end);
    const view = (element ? dom.ownerDocument(element) : document).defaultView;
    const active = activeIn(view.document);
    const subject = previous || (element ? controlOf(element) : active && dom.matches(active, FIELD) ? active : null);
    const scrolls = [];
    for (let one = element; one; one = dom.parentElement(one) || (dom.getRootNode(one).host ?? null))
      if (dom.scrollTop(one) || dom.scrollLeft(one)) scrolls.push(dom.scrollTop(one) + dom.scrollLeft(one));
    return {
      shown, popups, fields, frames: frames.join(' '), lines,
      url: view.top === view ? view.location.href : (() => { try { return view.top.location.href; } catch { return ''; } })(),
      own: view.location.href,
      subject, complete,
      scroll: [view.scrollX, view.scrollY], inner: scrolls.join(' '),
      active,
      state: subject ? stateOf(subject) : {},
      name: element ? nameOf(element) : '',
    };
  };

  const STATE_ATTRIBUTES = /^(aria-(expanded|pressed|selected|checked|current|busy)|open|checked|selected|disabled|value)$/;
  // Rings, ripples and pressed looks on the target or around it are no effect.
  const isCosmetic = (record, element) => {
    if (!element) return false;
    if (record.type === 'attributes') {
      if (STATE_ATTRIBUTES.test(record.attributeName)) return false;
      return dom.contains(element, record.target) || dom.contains(record.target, element) || record.target === dom.getRootNode(element).host;
    }
    if (record.type === 'childList' && dom.contains(element, record.target))
      return ![...record.addedNodes, ...record.removedNodes].some((node) => (dom.textContent(node) || '').trim());
    return false;
  };

  const release = (watch) => {
    watch.observer.disconnect();
    for (const view of watch.views) view.removeEventListener('beforeprint', watch.print);
  };

  const begin = (element) => {
    if (store.watch) release(store.watch);
    const roots = rootsOf(documentsOf(element));
    const watch = { element, before: snapshot(element, roots), added: 0, removed: 0, other: 0, records: 0, came: [], went: 0 };
    watch.take = (records) => {
      for (const record of records) {
        watch.records++;
        if (watch.records > 20000 || isCosmetic(record, element)) continue;
        if (record.type === 'childList') {
          for (const node of record.addedNodes) {
            if (dom.nodeType(node) === 1) watch.added += 1 + dom.childElementCount(node);
            if (watch.came.length < 300) watch.came.push(node);
          }
          for (const node of record.removedNodes) {
            if (dom.nodeType(node) !== 1) continue;
            watch.removed += 1 + dom.childElementCount(node);
            watch.went += dom.querySelectorAll(node, INTERACTIVE).length + (dom.matches(node, INTERACTIVE) ? 1 : 0);
          }
          watch.other++;
        } else {
          watch.other++;
          if (record.type === 'characterData' && watch.came.length < 300) watch.came.push(record.target);
        }
      }
    };
    watch.observer = new MutationObserver(watch.take);
    for (const root of roots)
      watch.observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    watch.print = () => { watch.printed = true; };
    watch.views = roots.filter((root) => root.defaultView).map((root) => root.defaultView);
    for (const view of watch.views) view.addEventListener('beforeprint', watch.print);
    store.watch = watch;
    const target = element && controlOf(element);
    return {
      state: watch.before.state,
      tag: target ? dom.localName(target) : '', type: target ? target.type || '' : '',
      picture: !!element && /^(canvas|video|audio|embed|object|iframe|svg|path)$/.test(dom.localName(element)),
    };
  };

  // What shows in the nodes that came, on a page too large to be compared as a whole.
  const arrivals = (nodes) => {
    const shown = new Set();
    const lines = new Map();
    for (const node of nodes) {
      if (!dom.isConnected(node)) continue;
      if (dom.nodeType(node) === 1) {
        for (const one of [node, ...dom.querySelectorAll(node, INTERACTIVE)]) if (dom.matches(one, INTERACTIVE) && isShown(one)) shown.add(one);
        addTexts(lines, node);
      } else if (dom.nodeType(node) === 3 && dom.parentElement(node) && isShown(dom.parentElement(node))) lines.set(squeeze(node.data, 120), dom.parentElement(node));
      if (lines.size > 500) break;
    }
    return { shown, lines };
  };

  const end = () => {
    const watch = store.watch;
    if (!watch) return null;
    store.watch = null;
    watch.take(watch.observer.takeRecords());
    release(watch);
    const { element, before } = watch;
    const after = snapshot(element, rootsOf(documentsOf(element && dom.isConnected(element) ? element : null)), before.subject);
    const whole = before.complete && after.complete;
    const came = whole ? { shown: after.shown, lines: after.lines } : arrivals(watch.came);
    const appeared = [...came.shown].filter((one) => !before.shown.has(one));
    const gone = whole ? [...before.shown].filter((one) => !after.shown.has(one)).length : watch.went;
    const popups = [...after.popups].filter((one) => !before.popups.has(one));
    const renamed = element && dom.isConnected(element) && before.name !== after.name ? [before.name, after.name] : null;
    // A new name is told as such, not as new text once more.
    const lines = [...came.lines.keys()].filter((line) => !before.lines.has(line) && !(renamed && line.includes(renamed[1])) &&
      !appeared.some((one) => dom.contains(one, came.lines.get(line))));
    const target = before.subject;
    let fields = 0;
    for (const [field, value] of after.fields)
      if (field !== target && before.fields.has(field) && before.fields.get(field) !== value) fields++;
    const changes = Object.keys({ ...before.state, ...after.state })
      .filter((key) => before.state[key] !== after.state[key])
      .map((key) => [key, before.state[key] ?? 'none', after.state[key] ?? 'none']);
    const active = after.active;
    const focus = active && active !== before.active && active !== dom.ownerDocument(active).body && (!element || dom.matches(active, 'select,textarea') || dom.isContentEditable(active) ||
      (dom.localName(active) === 'input' && !/^(button|submit|reset|image|checkbox|radio|file)$/.test(active.type)));
    const form = active && active.form;
    return {
      // Where a browser's own check stopped a form, it gives the focus to the first field that is wrong.
      invalid: form && !form.noValidate && active === dom.querySelector(form, ':is(input,select,textarea):invalid')
        ? `${described(active)}: ${active.validationMessage}` : '',
      printed: !!watch.printed,
      connected: !element || dom.isConnected(element),
      state: after.state, changes,
      renamed,
      url_from: before.url, url_to: after.url,
      scroll: [Math.round(after.scroll[0] - before.scroll[0]), Math.round(after.scroll[1] - before.scroll[1])],
      inner_scrolled: before.inner !== after.inner,
      frames_changed: before.frames !== after.frames || before.own !== after.own,
      focus: focus ? (active === target ? 'it' : described(active)) : null,
      added: watch.added, removed: watch.removed, other: watch.other,
      appeared: appeared.length, appeared_names: appeared.slice(0, 3).map(described), gone,
      popups: popups.slice(0, 2).map(described),
      lines: lines.length, texts: lines.slice(0, 3).map((line) => squeeze(line, 80)),
      lines_gone: !whole ? 0 : [...before.lines.keys()].filter((line) => !after.lines.has(line) && !(renamed && line.includes(renamed[0]))).length,
      fields,
    };
  };

  return { begin, end };
})()
