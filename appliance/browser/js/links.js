// Collects the links of a document in page order, those in shadow roots and frames of its origin included.
// Evaluates to functions that take an element to stay within, null for the whole document. Runs in the isolated world.
(() => {
  const { dom } = eyes;
  const MOST = 20000;
  const TEXT = 300;
  const ROW_TEXT = 600;
  const ROW = "tr,li,article,dd,[role=row],[role=listitem],[role=article]";
  const SILENT = /^(script|style|noscript|template|title)$/;
  const MOST_STEPS_UP = 8;

  const squeeze = (text) => (text || "").replace(/\s+/g, " ").trim();
  const scopeOf = (scope) => (scope && scope !== globalThis ? scope : null);

  const addressOf = (node) => {
    const href = node.href;
    if (typeof href === "string") return href;
    // A link of a drawing tells its address as written.
    try {
      return new URL(href.baseVal, dom.ownerDocument(node).baseURI).href;
    } catch {
      return "";
    }
  };
  const nameOf = (node) => {
    const text = squeeze(dom.textContent(node).slice(0, 4 * TEXT));
    if (text) return text.slice(0, TEXT);
    const picture = dom.querySelector(node, "img[alt],[aria-label],[title]");
    const name = dom.getAttribute(node, "aria-label") || dom.getAttribute(node, "title") || dom.getAttribute(node, "alt") ||
      (picture && (dom.getAttribute(picture, "alt") || dom.getAttribute(picture, "aria-label") || dom.getAttribute(picture, "title")));
    return squeeze(name).slice(0, TEXT);
  };

  // What a row says, one line for each text in it.
  const wordsOf = (row, known) => {
    let words = known.get(row);
    if (words !== undefined) return words;
    const texts = [];
    let size = 0;
    const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node && size < ROW_TEXT; node = walker.nextNode()) {
      const text = squeeze(node.data);
      if (!text || SILENT.test(dom.localName(dom.parentElement(node)) || "")) continue;
      texts.push(text);
      size += text.length + 1;
    }
    words = texts.join("\n").slice(0, ROW_TEXT);
    known.set(row, words);
    return words;
  };
  // The entry that a link stands in: what the page says is one, else the largest part around it without other links.
  const rowOf = (node, before, after) => {
    const row = dom.closest(node, ROW);
    if (row) return row;
    let best = node;
    for (let up = dom.parentElement(node), steps = 0; up && steps < MOST_STEPS_UP; up = dom.parentElement(up), steps += 1) {
      if ((before && dom.contains(up, before)) || (after && dom.contains(up, after))) break;
      if (/^(body|main|html)$/.test(dom.localName(up))) break;
      best = up;
    }
    return best;
  };

  // Nodes that matter in page order: links, and frames with the documents of this origin in their places.
  const gather = (root, frameUrl, found, depth) => {
    for (const node of dom.querySelectorAll(root, "*")) {
      if (found.length >= MOST) return;
      const tag = dom.localName(node);
      if ((tag === "a" || tag === "area") && (dom.hasAttribute(node, "href") || dom.hasAttribute(node, "xlink:href"))) {
        found.push({ node, frameUrl, frame: false });
        continue;
      }
      if (tag === "iframe" || tag === "frame") {
        if (node.offsetWidth < 10 || node.offsetHeight < 10 || depth > 5) continue;
        let inner = null;
        try {
          inner = node.contentDocument;
        } catch { /* another origin */ }
        if (inner) gather(inner, inner.location.href, found, depth + 1);
        else found.push({ node, frameUrl, frame: true });
        continue;
      }
      const inner = eyes.knownRoot(node);
      if (inner) gather(inner, frameUrl, found, depth);
    }
  };

  const within = (scope) => {
    const found = [];
    if (!scope) gather(document, "", found, 0);
    else if (/^i?frame$/.test(dom.localName(scope))) {
      let inner = null;
      try {
        inner = scope.contentDocument;
      } catch { /* another origin */ }
      if (inner) gather(inner, inner.location.href, found, 1);
      else found.push({ node: scope, frameUrl: "", frame: true });
    } else {
      const inner = eyes.knownRoot(scope);
      if (dom.localName(scope) === "a" && dom.hasAttribute(scope, "href")) found.push({ node: scope, frameUrl: "", frame: false });
      if (inner) gather(inner, "", found, 0);
      gather(scope, "", found, 0);
    }
    return found;
  };

  // JSON of {url, links: [[address, text, row, shown, frame address] | reference of a frame]}, or {error}.
  const find = (element, selector) => {
    if (selector) {
      try {
        document.createElement("a").matches(selector);
      } catch (error) {
        return JSON.stringify({ error: String(error.message) });
      }
    }
    const found = within(scopeOf(element));
    const known = new Map();
    const links = [];
    for (let at = 0; at < found.length; at += 1) {
      const { node, frameUrl, frame } = found[at];
      if (frame) {
        links.push(eyes.publish(node));
        continue;
      }
      if (selector && !dom.closest(node, selector)) continue;
      const address = addressOf(node);
      if (!address || /^javascript:/i.test(address)) continue;
      const row = rowOf(node, at > 0 ? found[at - 1].node : null, at + 1 < found.length ? found[at + 1].node : null);
      links.push([address, nameOf(node), wordsOf(row, known), dom.checkVisibility(node, { visibilityProperty: true }), frameUrl]);
    }
    return JSON.stringify({ url: location.href, links });
  };

  // ---- going through what loads as it is scrolled -----------------------------------------------------------------

  const up = (element) => dom.parentElement(element) || dom.getRootNode(element).host || null;
  const parts = (globalThis.pilothouseParts ??= { left: new Map() });

  // What can be scrolled: the page, frames of its origin, and areas that hold links.
  const areasOf = () => {
    const areas = new Set();
    const known = new Map();
    const roots = new Set([document]);
    for (const { node } of within(null)) {
      roots.add(dom.getRootNode(node));
      roots.add(dom.ownerDocument(node));
      for (let area = eyes.scrollAreaOf(node, known); area; area = eyes.scrollAreaOf(up(area), known)) areas.add(area);
    }
    for (const root of roots) {
      const page = root.scrollingElement;
      if (page && dom.scrollHeight(page) > heightOf(page) + 1) areas.add(page);
    }
    return { areas: [...areas], roots: [...roots] };
  };
  const isPage = (area) => area === dom.ownerDocument(area).scrollingElement;
  const heightOf = (area) => (isPage(area) ? dom.ownerDocument(area).defaultView.innerHeight : dom.clientHeight(area));
  const isAtEnd = (area) => dom.scrollTop(area) + heightOf(area) >= dom.scrollHeight(area) - 2;

  const FRAME_MS = 50;
  // Once the page is drawn as it is now; a page that is not drawn is not waited for.
  const drawn = () =>
    new Promise((resolve) => {
      requestAnimationFrame(() => setTimeout(resolve));
      setTimeout(resolve, FRAME_MS);
    });
  const hasScripts = () =>
    document.scripts.length > 0 ||
    performance.getEntriesByType("resource").some((entry) => entry.initiatorType === "script" || /\.m?js(\?|$)/.test(entry.name));

  const ALIKE_STEPS = 5;
  const MOST_STEPS = 60;
  // Scrolls down a height at a time until something is added or taken away, or the end is reached; when nothing comes
  // of several steps, straight to the end. Goes on from where the last call came to.
  const sweep = async () => {
    const { areas, roots } = areasOf();
    let changed = false;
    const observer = new MutationObserver(() => (changed = true));
    for (const root of roots) observer.observe(root, { childList: true, subtree: true });
    const started = areas.filter((area) => !parts.left.has(area));
    for (const area of started) parts.left.set(area, dom.scrollTop(area));
    const isAlive = hasScripts();
    let moved = false;
    for (let step = 0; isAlive && step < MOST_STEPS && !changed; step += 1) {
      const open = areas.filter((area) => !isAtEnd(area));
      if (!open.length) break;
      for (const area of open) {
        const top = step < ALIKE_STEPS ? Math.max(20, heightOf(area) * 0.9) : dom.scrollHeight(area);
        dom.scrollBy(area, { top, behavior: "instant" });
      }
      moved = true;
      await drawn();
    }
    // What came of the last step may be drawn only now.
    if (moved && !changed) await drawn();
    observer.disconnect();
    return {
      moved, changed, alive: isAlive, areas: areas.some((area) => !isPage(area)),
      end: areas.every(isAtEnd),
      height: areas.reduce((sum, area) => sum + dom.scrollHeight(area), 0),
    };
  };
  // Scrolls back to where everything was before the first sweep.
  const restore = () => {
    for (const [area, top] of parts.left) {
      if (dom.isConnected(area)) dom.scrollBy(area, { top: top - dom.scrollTop(area), behavior: "instant" });
    }
    parts.left.clear();
    return true;
  };
  // Whether a frame is large enough for a list, and of another origin than what it stands in.
  const isPanel = () => {
    if (innerWidth < 100 || innerHeight < 60) return false;
    try {
      return parent === window || !parent.document;
    } catch {
      return true;
    }
  };
  return { find, sweep, restore, isPanel };
})()
