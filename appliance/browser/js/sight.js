// Scrolls, and finds text and elements. Evaluates to an object of functions. Runs in the isolated world of the main frame.
(() => {
  const { dom } = eyes;
  const squeeze = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const isShown = (element) => dom.checkVisibility(element, { visibilityProperty: true, opacityProperty: true });
  const SKIPPED = /^(script|style|noscript|template|head)$/;

  // Every root of the page: the document, shadow roots, documents of frames of the same origin.
  const roots = () => {
    const found = [];
    const add = (root) => {
      if (!root || found.includes(root) || found.length > 200) return;
      found.push(root);
      for (const element of dom.querySelectorAll(root, '*')) {
        if (eyes.knownRoot(element)) add(eyes.knownRoot(element));
        else if (dom.localName(element) === 'iframe' || dom.localName(element) === 'frame') {
          try { add(element.contentDocument); } catch { /* another origin */ }
        }
      }
    };
    add(document);
    return found;
  };

  const scrolls = (element) => {
    const style = dom.ownerDocument(element).defaultView.getComputedStyle(element);
    return dom.scrollHeight(element) > dom.clientHeight(element) + 1 && /auto|scroll|overlay/.test(style.overflowY);
  };

  const mainScroller = () => {
    const page = document.scrollingElement || document.documentElement;
    if (!page) return null;
    if (dom.scrollHeight(page) > innerHeight + 1 && getComputedStyle(page).overflowY !== 'hidden') return page;
    let best = null;
    let area = 0;
    for (const element of document.querySelectorAll('body,body *')) {
      if (dom.scrollHeight(element) <= dom.clientHeight(element) + 1 || !scrolls(element)) continue;
      const box = dom.getBoundingClientRect(element);
      const shown = Math.max(0, Math.min(box.right, innerWidth) - Math.max(box.left, 0)) *
        Math.max(0, Math.min(box.bottom, innerHeight) - Math.max(box.top, 0));
      if (shown > area) { area = shown; best = element; }
    }
    return best || page;
  };

  const scrollerOf = (element) => {
    if (!element || element === globalThis) return mainScroller();
    if (dom.localName(element) === 'iframe') {
      try { return element.contentDocument.scrollingElement; } catch { return null; }
    }
    for (let one = element; one; one = dom.parentElement(one) || dom.getRootNode(one).host || null) {
      const page = dom.ownerDocument(one).scrollingElement;
      if (one === page) return page;
      if (one !== dom.ownerDocument(one).body && scrolls(one)) return one;
    }
    return dom.ownerDocument(element).scrollingElement;
  };

  const scrollBy = (element, pages) => {
    const scroller = scrollerOf(element);
    if (!scroller) return null;
    const isPage = scroller === dom.ownerDocument(scroller).scrollingElement;
    const height = isPage ? dom.ownerDocument(scroller).defaultView.innerHeight : dom.clientHeight(scroller);
    const before = dom.scrollTop(scroller);
    dom.scrollBy(scroller, { top: Math.round(pages * height), behavior: 'instant' });
    const box = isPage ? { x: 0, y: 0, width: innerWidth, height: innerHeight } : dom.getBoundingClientRect(scroller);
    return {
      moved: Math.round(dom.scrollTop(scroller) - before), above: Math.round(dom.scrollTop(scroller)),
      below: Math.max(0, Math.round(dom.scrollHeight(scroller) - height - dom.scrollTop(scroller))), height, isPage,
      x: Math.min(innerWidth - 1, Math.max(0, box.x + box.width / 2)), y: Math.min(innerHeight - 1, Math.max(0, box.y + box.height / 2)),
    };
  };

  const position = (element) => {
    const scroller = scrollerOf(element);
    return scroller ? Math.round(dom.scrollTop(scroller)) : 0;
  };

  // The innermost shown element whose own text, inline children included, has the words.
  const bearers = function* (wanted) {
    for (const root of roots()) {
      const walker = (dom.ownerDocument(root) || root).createTreeWalker(root.body || root, NodeFilter.SHOW_TEXT);
      let block = null;
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const holder = dom.parentElement(node) || root.host;
        if (!holder || SKIPPED.test(dom.localName(holder)) || !node.data.trim()) continue;
        if (squeeze(node.data).toLowerCase().includes(wanted)) { yield holder; continue; }
        block = dom.closest(holder, 'p,li,td,th,h1,h2,h3,h4,h5,h6,a,button,label,dt,dd,div,section') || holder;
        if (squeeze(dom.textContent(block)).length < 5000 && squeeze(dom.textContent(block)).toLowerCase().includes(wanted)) yield block;
      }
    }
  };

  const findText = (_, text) => {
    const wanted = squeeze(text).toLowerCase();
    for (const holder of bearers(wanted)) {
      if (!isShown(holder)) continue;
      const view = dom.ownerDocument(holder).defaultView;
      const before = view.scrollY;
      dom.scrollIntoView(holder, { block: 'center', inline: 'nearest', behavior: 'instant' });
      const box = dom.getBoundingClientRect(holder);
      return { found: true, moved: Math.round(view.scrollY - before), line: squeeze(dom.innerText(holder)).slice(0, 160),
        inView: box.bottom > 0 && box.top < view.innerHeight };
    }
    return { found: false };
  };

  const hasText = (_, text) => {
    const wanted = squeeze(text).toLowerCase();
    for (const holder of bearers(wanted)) if (isShown(holder)) return true;
    return false;
  };

  // Waits in the page until the text is there (or is not), for at most so many milliseconds.
  const waitText = (_, text, there, milliseconds) => {
    if (hasText(null, text) === there) return true;
    return new Promise((resolve) => {
      let due = false;
      const look = () => { due = false; if (hasText(null, text) === there) end(true); };
      // Mutations come in bursts: one look for each burst; what styles alone change is seen at the ticks.
      const observer = new MutationObserver(() => { if (!due) { due = true; setTimeout(look, 20); } });
      const tick = setInterval(look, 200);
      const clock = setTimeout(() => end(false), milliseconds);
      const end = (result) => { observer.disconnect(); clearInterval(tick); clearTimeout(clock); resolve(result); };
      for (const root of roots()) observer.observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
    });
  };

  const pathOf = (element) => {
    const parts = [];
    for (let one = element; one && parts.length < 4 && dom.localName(one) !== 'body'; one = dom.parentElement(one))
      parts.unshift(dom.id(one) ? `${dom.localName(one)}#${dom.id(one)}` : dom.classList(one).length ? `${dom.localName(one)}.${dom.classList(one)[0]}` : dom.localName(one));
    return parts.join(' > ');
  };

  // A page's text as lines of blocks, so that a pattern does not run across the whole page.
  const searchPage = (_, pattern, regex, most) => {
    let expression;
    try { expression = new RegExp(regex ? pattern : pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+'), 'giu'); }
    catch (error) { return { error: String(error.message) }; }
    const hits = [];
    let total = 0;
    const lines = eyes.read().lines.map((line) => line.text.toLowerCase());
    let next = 0;
    // The place of the line, further down than that of the hit before, that has the words; -1 when no one line has.
    const placeOf = (words) => {
      const wanted = squeeze(words).toLowerCase();
      let place = lines.findIndex((line, index) => index >= next && line.includes(wanted));
      if (place < 0) place = lines.findIndex((line) => line.includes(wanted));
      if (place >= 0) next = place;
      return place;
    };
    for (const root of roots()) {
      const holders = root.body ? [root.body] : [...dom.children(root)];
      for (const holder of holders) {
        const text = dom.innerText(holder) || '';
        for (const match of text.matchAll(expression)) {
          if (!match[0]) continue;
          total++;
          if (hits.length >= most) continue;
          const from = Math.max(0, match.index - 100);
          const until = Math.min(text.length, match.index + match[0].length + 100);
          hits.push({ place: placeOf(match[0]), match: match[0].slice(0, 300), before: squeeze(text.slice(from, match.index)), after: squeeze(text.slice(match.index + match[0].length, until)) });
        }
      }
    }
    return { total, hits };
  };

  const findElements = (_, selector, most) => {
    const found = [];
    let total = 0;
    for (const root of roots()) {
      let matches;
      try { matches = dom.querySelectorAll(root, selector); }
      catch (error) { return { error: String(error.message) }; }
      for (const element of matches) {
        total++;
        if (found.length >= most) continue;
        const attributes = {};
        for (const { name, value } of dom.attributes(element))
          if (/^(id|name|type|href|src|alt|title|role|value|placeholder|datetime|content|itemprop|class|aria-.*|data-.*)$/.test(name) && value)
            attributes[name] = (/^(href|src)$/.test(name) && element[name]) && typeof element[name] === 'string' ? element[name] : value.slice(0, 200);
        // What stands in a field now, in full: in an observation long values are cut.
        if (/^(input|textarea|select)$/.test(dom.localName(element)) && element.value) attributes.value = element.value.slice(0, 4000);
        if (eyes.isSecret(element)) delete attributes.value;
        found.push({ tag: dom.localName(element), text: squeeze(dom.innerText(element) || dom.textContent(element)).slice(0, 200), attributes,
          children: dom.childElementCount(element), shown: isShown(element), path: pathOf(element) });
      }
    }
    return { total, found };
  };

  return { scrollBy, position, findText, hasText, waitText, searchPage, findElements };
})()
