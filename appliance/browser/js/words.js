// Words for elements: names, labels, states, and how a cover is called.
{
  const { dom } = eyes;
  // Most texts are tight already: to test one is cheaper than to make another.
  const LOOSE = /[^\S ]|  |^ | $/;
  const squeeze = (text) => (LOOSE.test(text) ? text.replace(/\s+/g, " ").trim() : text);
  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const quote = (text) => (/^[\w./:#?=&%+~,@-]+$/.test(text) ? text : `"${text.replace(/"/g, "'")}"`);

  const referenced = (element, attribute) => {
    const ids = dom.getAttribute(element, attribute);
    if (!ids) return "";
    const root = dom.getRootNode(element);
    const texts = ids.split(/\s+/).map((id) => (root.getElementById && root.getElementById(id)?.textContent) || "");
    return squeeze(texts.join(" "));
  };

  // Text of a label without the text of controls inside it.
  const labelText = (label) => {
    if (!label.querySelector("select, textarea, button, script, style")) return squeeze(label.textContent);
    const copy = label.cloneNode(true);
    for (const control of copy.querySelectorAll("select, textarea, button, script, style")) control.remove();
    return squeeze(copy.textContent);
  };

  const pictureName = (element) => {
    if (dom.namespaceURI(element) === "http://www.w3.org/2000/svg") {
      const title = [...dom.children(element)].find((child) => dom.localName(child) === "title");
      return squeeze((title || dom.querySelector(element, "title"))?.textContent || dom.querySelector(element, "text")?.textContent || "");
    }
    const named = dom.querySelector(element, "img[alt]:not([alt='']), [aria-label], [title], svg > title");
    if (!named) return "";
    return squeeze(
      dom.getAttribute(named, "alt") || dom.getAttribute(named, "aria-label") || dom.getAttribute(named, "title") || dom.textContent(named),
    );
  };

  // The name of a control that has no text of its own.
  const controlName = (element, labels) => {
    const name = referenced(element, "aria-labelledby") || squeeze(dom.getAttribute(element, "aria-label") || "");
    if (name) return name;
    if (labels) return squeeze(labels.map(labelText).join(" "));
    return squeeze(dom.getAttribute(element, "title") || dom.getAttribute(element, "alt") || "");
  };

  const SECRET = /^(cc-|one-time-code|current-password|new-password)/;
  const isSecret = (element) =>
    element.type === "password" || SECRET.test(dom.getAttribute(element, "autocomplete") || "");

  const shortHref = (element) => {
    const raw = dom.getAttribute(element, "href") || dom.getAttribute(element, "xlink:href") || "";
    if (/^(javascript|data):/i.test(raw)) return raw.slice(0, 11);
    // The common case, without parsing: what the browser resolved already.
    const whole = element.href;
    const { origin } = globalThis;
    if (typeof whole === "string" && raw[0] !== "#" && whole.startsWith(origin) && whole[origin.length] === "/") return cut(whole.slice(origin.length), 80);
    try {
      const url = new URL(raw, element.baseURI);
      const same = url.origin === location.origin;
      const tail = url.pathname + url.search + url.hash;
      if (raw.startsWith("#")) return cut(raw, 80);
      return cut(same ? tail : url.protocol.startsWith("http") ? url.host + tail : url.href, 80);
    } catch {
      return cut(raw, 80);
    }
  };

  const describe = (element) => {
    const box = dom.closest(element, "dialog, [role=dialog], [role=alertdialog], [aria-modal=true]") || element;
    const role = dom.getAttribute(box, "role") || dom.localName(box);
    const name =
      referenced(box, "aria-labelledby") ||
      squeeze(dom.getAttribute(box, "aria-label") || "") ||
      squeeze(dom.querySelector(box, "h1, h2, h3, h4, [role=heading]")?.textContent || "") ||
      squeeze((dom.textContent(box) || "").slice(0, 200));
    const id = dom.id(box) ? `#${dom.id(box)}` : typeof dom.className(box) === "string" && dom.className(box) ? `.${dom.className(box).split(" ")[0]}` : "";
    return cut(name ? `${role} ${name}` : `${role}${id}`, 60);
  };

  Object.assign(eyes, { squeeze, cut, quote, referenced, pictureName, controlName, isSecret, shortHref, describe });
}
