// Tells whether an element is still what it was when it was shown: an action planned on sight must not hit another one.
{
  const { squeeze, cut, controlName, dom } = eyes;
  const FIELDS = /^(input|select|textarea)$/;

  const words = (node, isContainer, labels) => {
    if (isContainer || dom.isContentEditable(node)) return "";
    if (!FIELDS.test(dom.localName(node))) {
      const text = dom.textContent(node).slice(0, 200).trim();
      // Of a sign such as "›", what the author called it is what counts.
      return (text.length <= 3 && dom.getAttribute(node, "aria-label")) || text || controlName(node, null);
    }
    if (/^(submit|button|reset)$/.test(node.type)) return node.value;
    return controlName(node, labels || (dom.labels(node) && [...dom.labels(node)]));
  };
  const stateOf = (node) => ({
    disabled: (node.disabled !== undefined && dom.matches(node, ":disabled")) || dom.getAttribute(node, "aria-disabled") === "true" || dom.closest(node, "[inert]") !== null,
    "read-only": node.readOnly === true && FIELDS.test(dom.localName(node)),
    checked: node.checked === true || dom.getAttribute(node, "aria-checked") === "true",
    pressed: dom.getAttribute(node, "aria-pressed") === "true",
  });

  // What makes an element the one it is. Its value, and whether it is expanded, are left out: a chain changes them itself.
  // `labels`: those that the element has, where that is known; to ask for them takes long in a large document.
  eyes.identity = (node, isContainer, cover, labels = null) => ({
    container: isContainer,
    words: words(node, isContainer, labels),
    role: dom.getAttribute(node, "role") || "",
    state: stateOf(node),
    cover,
  });

  // "" when it is the same, else what is different, as the end of a sentence that begins with the element.
  eyes.recheck = (reference) => {
    const node = eyes.find(reference);
    if (!node) return "is no longer on the page";
    const was = eyes.past(node);
    if (!was) return "";
    const now = eyes.identity(node, was.container, was.cover);
    if (now.words !== was.words) return `now reads "${cut(squeeze(now.words), 60)}" instead of "${cut(squeeze(was.words), 60)}"`;
    if (now.role !== was.role) return `is now a ${now.role || dom.localName(node)} instead of a ${was.role || dom.localName(node)}`;
    for (const name of Object.keys(now.state)) {
      if (now.state[name] === was.state[name]) continue;
      if (now.state[name]) return `is now ${name}`;
      // Becoming usable is what the chain was for: a form's button, once its fields are filled.
      if (name !== "disabled" && name !== "read-only") return `is no longer ${name}`;
    }
    if (!dom.checkVisibility(node) && !(node.labels && node.labels.length) && node.type !== "file") return "is no longer visible";
    if (was.cover !== "") return "";
    const cover = eyes.hit(node)?.covered;
    return cover ? `is now covered by ${cover}` : "";
  };
}
