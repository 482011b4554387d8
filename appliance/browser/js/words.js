// Words for elements: names, labels, states, and how a cover is called.
{
  const squeeze = (text) => text.replace(/\s+/g, " ").trim();
  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const quote = (text) => (/^[\w./:#?=&%+~,@-]+$/.test(text) ? text : `"${text.replace(/"/g, "'")}"`);

  const referenced = (element, attribute) => {
    const ids = element.getAttribute(attribute);
    if (!ids) return "";
    const root = element.getRootNode();
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
    if (element.namespaceURI === "http://www.w3.org/2000/svg") {
      const title = [...element.children].find((child) => child.localName === "title");
      return squeeze((title || element.querySelector("title"))?.textContent || element.querySelector("text")?.textContent || "");
    }
    const named = element.querySelector("img[alt]:not([alt='']), [aria-label], [title], svg > title");
    if (!named) return "";
    return squeeze(
      named.getAttribute("alt") || named.getAttribute("aria-label") || named.getAttribute("title") || named.textContent,
    );
  };

  // The name of a control that has no text of its own.
  const controlName = (element, labels) => {
    const name = referenced(element, "aria-labelledby") || squeeze(element.getAttribute("aria-label") || "");
    if (name) return name;
    if (labels) return squeeze(labels.map(labelText).join(" "));
    return squeeze(element.getAttribute("title") || element.getAttribute("alt") || "");
  };

  const SECRET = /^(cc-|one-time-code|current-password|new-password)/;
  const isSecret = (element) =>
    element.type === "password" || SECRET.test(element.getAttribute("autocomplete") || "");

  const shortHref = (element) => {
    const raw = element.getAttribute("href") || element.getAttribute("xlink:href") || "";
    if (/^(javascript|data):/i.test(raw)) return raw.slice(0, 11);
    // The common case, without parsing: what the browser resolved already.
    const whole = element.href;
    if (typeof whole === "string" && raw[0] !== "#" && whole.startsWith(`${location.origin}/`)) return cut(whole.slice(location.origin.length), 80);
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
    const box = element.closest("dialog, [role=dialog], [role=alertdialog], [aria-modal=true]") || element;
    const role = box.getAttribute("role") || box.localName;
    const name =
      referenced(box, "aria-labelledby") ||
      squeeze(box.getAttribute("aria-label") || "") ||
      squeeze(box.querySelector("h1, h2, h3, h4, [role=heading]")?.textContent || "") ||
      squeeze((box.textContent || "").slice(0, 200));
    const id = box.id ? `#${box.id}` : typeof box.className === "string" && box.className ? `.${box.className.split(" ")[0]}` : "";
    return cut(name ? `${role} ${name}` : `${role}${id}`, 60);
  };

  Object.assign(eyes, { squeeze, cut, quote, referenced, pictureName, controlName, isSecret, shortHref, describe });
}
