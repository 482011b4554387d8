// Counts what changes in the document, and tells when it has become quiet.
{
  // A target that changed in this many batches is a clock or a ticker: it no longer counts.
  const TICKER_BATCHES = 20;
  const BUSY_CAP_MS = 2500;
  const OPTIONS = {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    // Style is left out: animations write it without end, and what they show is read anyway.
    attributeFilter: [
      "class", "hidden", "disabled", "open", "checked", "value", "href", "src", "aria-expanded", "aria-hidden",
      "aria-busy", "aria-checked", "aria-selected", "aria-pressed", "aria-invalid", "aria-disabled", "data-state",
    ],
  };
  const batches = new WeakMap();
  const observed = new WeakSet();
  let last = 0;
  let waitedInVain = false;

  eyes.mutations = 0;

  const note = (records) => {
    let counts = false;
    for (const target of new Set(records.map((record) => record.target))) {
      const before = batches.get(target) || 0;
      batches.set(target, before + 1);
      if (before < TICKER_BATCHES) counts = true;
    }
    if (counts) {
      eyes.mutations += 1;
      last = performance.now();
    }
  };
  const observer = new MutationObserver(note);

  eyes.observe = (root) => {
    if (observed.has(root)) return;
    observed.add(root);
    observer.observe(root, OPTIONS);
  };
  eyes.observe(document);

  eyes.count = () => {
    note(observer.takeRecords());
    return eyes.mutations;
  };

  const WAITING_WORDS = /^\W*(loading|please wait|just a moment|one moment)\b.{0,30}$/im;
  const looksBusy = () => {
    const body = document.body;
    if (!body) return document.readyState === "loading";
    for (const element of body.querySelectorAll('[aria-busy="true"]')) if (eyes.dom.checkVisibility(element)) return true;
    if (body.getElementsByTagName("*").length > 300) return false;
    const text = body.innerText;
    return text.length < 600 && WAITING_WORDS.test(text);
  };

  // Resolves once nothing has changed for `grace` ms, or, when something did, `quiet` ms after the last change.
  // A document that says it is loading is given up to 2.5 s more, once.
  eyes.quiet = (grace, quiet, cap) =>
    new Promise((resolve) => {
      const start = performance.now();
      const base = eyes.count();
      let busySince = 0;
      const check = () => {
        const changed = eyes.count() !== base;
        const now = performance.now();
        const end = Math.min(changed ? Math.max(last + quiet, start + grace) : start + grace, start + cap);
        if (now < end - 0.5) return setTimeout(check, Math.max(1, end - now));
        if (now - start < cap && !waitedInVain && looksBusy()) {
          busySince ||= now;
          if (now - busySince < BUSY_CAP_MS) return setTimeout(check, 50);
          waitedInVain = true;
        }
        return resolve(eyes.mutations);
      };
      check();
    });
}
