// Tells how far a page has come to show something, and what it says. Evaluates to an object of functions.
// Runs in the isolated world of a page or of a frame in it.
(() => {
  const { dom } = eyes;
  const LINKED = /^application\/ld\+json\s*(;|$)/i;
  const text = () => (document.body ? dom.innerText(document.body).trim() : "");
  const linkedBlocks = () =>
    [...document.getElementsByTagName("script")].filter((one) => LINKED.test(dom.getAttribute(one, "type") || ""));

  // Frames of other origins that are large enough for content.
  const panels = () =>
    [...document.querySelectorAll("iframe, frame")]
      .filter((one) => {
        if (one.offsetWidth < 200 || one.offsetHeight < 100) return false;
        // A frame begins with an empty document that can be entered, whatever it is going to show.
        if (/^https?:/.test(one.src) && new URL(one.src).origin !== location.origin) return true;
        try {
          return !one.contentDocument;
        } catch {
          return true;
        }
      })
      .map((one) => one.src);
  const hasScripts = () =>
    [...document.scripts].some((one) => !LINKED.test(dom.getAttribute(one, "type") || "")) ||
    performance.getEntriesByType("resource").some((entry) => entry.initiatorType === "script");

  const state = () => ({
    url: location.href,
    characters: text().length,
    alive: hasScripts(),
    panels: panels(),
    linked: linkedBlocks().length,
    pdf: document.contentType === "application/pdf",
    loaded: document.readyState === "complete",
  });

  // Resolves once `is` holds, at the latest after so many milliseconds.
  const until = (is, cap) =>
    new Promise((resolve) => {
      if (is()) return resolve(true);
      const end = (held) => {
        observer.disconnect();
        clearTimeout(clock);
        resolve(held);
      };
      const observer = new MutationObserver(() => is() && end(true));
      observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["class", "style", "hidden"] });
      const clock = setTimeout(() => end(is()), cap);
    });
  const shown = (_, characters, cap) => until(() => text().length >= characters, cap);
  const stated = (_, cap) => until(() => linkedBlocks().length > 0, cap);

  // Resolves with whether something of this document has been drawn, at the latest after so many milliseconds.
  const painted = (_, cap) =>
    new Promise((resolve) => {
      const has = () => performance.getEntriesByName("first-contentful-paint").length > 0;
      if (has()) return resolve(true);
      const end = (held) => {
        observer.disconnect();
        clearTimeout(clock);
        resolve(held);
      };
      const observer = new PerformanceObserver(() => has() && end(true));
      observer.observe({ type: "paint", buffered: true });
      const clock = setTimeout(() => end(has()), cap);
    });

  // What the page says: its text and its HTML, both cut, and the JSON-LD that stands where the HTML is cut off.
  const page = (_, mostText, mostHtml, isFrame) => {
    const { html } = eyes.html(isFrame);
    return JSON.stringify({
      url: location.href,
      title: document.title,
      text: text().slice(0, mostText),
      html: html.slice(0, mostHtml),
      linked: html.length > mostHtml ? linkedBlocks().map((one) => dom.textContent(one).slice(0, mostHtml)) : [],
    });
  };

  return { state, shown, stated, painted, page, text };
})()
