// Writes out what an element is: its tag, the facts that matter about it, and its name.
{
  const { squeeze, cut, quote, dom } = eyes;

  const NAMED_INPUT = /^(checkbox|radio|submit|button|reset|image|file|password|email|number|date|time|datetime-local|month|week|search|tel|url|range|color)$/;
  const state = (node, name, value, parts) => {
    if (value === true || value === "true") parts.push(name);
    else if (value === "false") parts.push(`${name}=false`);
    else if (value) parts.push(`${name}=${quote(cut(squeeze(String(value)), 100))}`);
  };
  // A value that is too long is cut with its length: find_elements tells it in full.
  const valueParts = (node, most, parts) => {
    const value = squeeze(node.value);
    if (value) parts.push(`value=${quote(cut(value, most))}`);
    if (value.length > most) parts.push(`length=${node.value.length}`);
  };
  const inputParts = (node, parts) => {
    const type = node.type;
    if (NAMED_INPUT.test(type)) parts.push(`type=${type}`);
    if (type === "checkbox" || type === "radio") {
      if (node.indeterminate) parts.push("indeterminate");
      else if (node.checked) parts.push("checked");
    } else if (type === "file") {
      state(node, "value", [...node.files].map((file) => file.name).join(", "), parts);
      state(node, "accept", node.accept, parts);
    } else if (eyes.isSecret(node)) {
      if (node.value) parts.push("value=•••");
    } else if (!/^(submit|button|reset|image)$/.test(type)) valueParts(node, 120, parts);
    state(node, "multiple", node.multiple, parts);
    for (const name of ["min", "max", "step", "pattern"]) state(node, name, dom.getAttribute(node, name), parts);
    state(node, "list", node.list ? [...node.list.options].slice(0, 8).map((one) => one.value).join(" | ") : "", parts);
  };
  const selectParts = (node, parts) => {
    const chosen = [...node.selectedOptions].map((one) => squeeze(one.label)).join(", ");
    parts.push(`value=${quote(cut(chosen, 100))}`);
    state(node, "multiple", node.multiple, parts);
    const options = [...node.options].slice(0, 12).map((one) => cut(squeeze(one.label), 30));
    const more = node.options.length - options.length;
    parts.push(`options=${quote(cut(options.join(" | "), 160) + (more > 0 ? ` | ${more} more` : ""))}`);
  };
  const ARIA = new Set(["expanded", "checked", "selected", "pressed", "current", "haspopup", "invalid", "sort", "valuenow"]);
  const commonParts = (node, parts) => {
    state(node, "placeholder", dom.getAttribute(node, "placeholder") || dom.getAttribute(node, "aria-placeholder"), parts);
    state(node, "required", node.required === true || dom.getAttribute(node, "aria-required") === "true", parts);
    state(node, "readonly", node.readOnly === true && /^(input|textarea)$/.test(dom.localName(node)), parts);
    state(node, "disabled", dom.matches(node, ":disabled") || dom.getAttribute(node, "aria-disabled") === "true", parts);
    for (const attribute of dom.getAttributeNames(node)) {
      if (!attribute.startsWith("aria-")) continue;
      const name = attribute.slice(5);
      const value = ARIA.has(name) ? dom.getAttribute(node, attribute) : null;
      if (value !== null && !(value === "false" && /^(invalid|haspopup|current)$/.test(name))) state(node, name, value, parts);
    }
    if (dom.localName(node) === "summary" && dom.parentElement(node)?.localName === "details") {
      parts.push(dom.parentElement(node).open ? "expanded" : "expanded=false");
    }
    if (node.willValidate && dom.matches(node, ":user-invalid")) state(node, "invalid", node.validationMessage, parts);
    if (dom.closest(node, "[inert]")) parts.push("inert");
    if (node === focused) parts.push("focused");
  };

  let focused = null;
  let labels = new Map();
  let areAllLabelsKnown = false;

  // Everything of an element after its number, its name and its role.
  const describeElement = (line) => {
    const node = line.element;
    const tag = dom.localName(node);
    const parts = [];
    const role = dom.getAttribute(node, "role");
    if (role && role !== tag) parts.push(`role=${quote(cut(role, 30))}`);
    let name = line.text;
    if (tag === "a" || tag === "area") state(node, "href", dom.hasAttribute(node, "href") || dom.hasAttribute(node, "xlink:href") ? eyes.shortHref(node) : "", parts);
    else if (tag === "input") inputParts(node, parts);
    else if (tag === "select") selectParts(node, parts);
    else if (tag === "textarea") {
      if (!eyes.isSecret(node)) valueParts(node, 240, parts);
      else if (node.value) parts.push("value=•••");
    }
    else if (tag === "label" && node.control) {
      parts.push(`for=${node.control.type}`);
      if (node.control.checked) parts.push("checked");
      if (node.control.disabled) parts.push("disabled");
    } else if (tag === "button" && node.type === "submit" && node.form) parts.push("type=submit");
    if (dom.isContentEditable(node) && dom.hasAttribute(node, "contenteditable")) {
      parts.push("editable");
      // What is written in it stands where the name of others does.
      state(node, "label", name && eyes.controlName(node, null), parts);
    }
    commonParts(node, parts);
    // A sign says less than the words its author gave it: "›" is "Next month", "×" is "Close".
    if (name && name.length <= 3 && !/[\p{L}\p{N}]/u.test(name)) name = eyes.controlName(node, null) || name;
    if (!name && tag === "input" && /^(submit|button|reset)$/.test(node.type)) name = node.value || node.type;
    if (!name) name = eyes.controlName(node, labels.get(node)) || (line.container ? "" : eyes.pictureName(node));
    if (!name) fallbackParts(node, parts);
    if (line.mark) parts.push(line.mark);
    const cover = coverOf(node);
    if (cover) parts.push(`covered-by=${quote(cover)}`);
    return [`<${[tag, ...parts].join(" ")}>${name}`, name, role || implied(node, tag), cover];
  };
  const fallbackParts = (node, parts) => {
    const icon = eyes.iconOf(node);
    if (icon) return parts.push(`icon=${quote(icon)}`);
    // Without any word to know it by, what the author called it may help.
    const own = dom.getAttribute(node, "name") || dom.id(node) || (typeof dom.className(node) === "string" ? dom.className(node) : "");
    const kind = dom.getAttribute(node, "name") ? "name" : dom.id(node) ? "id" : "class";
    if (own) return parts.push(`${kind}=${quote(cut(squeeze(own), 60))}`);
    const box = dom.getBoundingClientRect(node);
    return parts.push(`at=${Math.round(box.left + scrollX)},${Math.round(box.top + scrollY)}`);
  };
  const implied = (node, tag) => {
    if (tag === "a" || tag === "area") return "link";
    if (tag === "select") return node.multiple ? "listbox" : "combobox";
    if (tag === "textarea") return "textbox";
    if (tag !== "input") return tag === "button" || tag === "summary" ? "button" : "";
    if (/^(checkbox|radio)$/.test(node.type)) return node.type;
    return /^(submit|button|reset|image)$/.test(node.type) ? "button" : "textbox";
  };

  // What lies on top of an element that is in view; "" when a click reaches it, null when that is not known.
  // A hit test takes longer the larger the document is: very large ones get fewer. (By count and not by time, so that
  // equal pages read equal.) Whoever points at an element tests it anyway.
  const HIT_TEST_WORK = 5e5;
  const MIN_HIT_TESTS = 8;
  let hitTests = 0;
  const coverOf = (node) => {
    if (hitTests <= 0) return null;
    const box = dom.getBoundingClientRect(node);
    if (box.width === 0 || box.height === 0) return null;
    const { width, height } = sizeOfView(node);
    if (box.bottom <= 0 || box.right <= 0 || box.top >= height || box.left >= width) return null;
    hitTests -= 1;
    if (dom.localName(node) !== "area" && isHitInTheMiddle(node, box, width, height)) return "";
    const found = eyes.hit(node);
    return found ? found.covered : null;
  };
  // The common case, at the price of one look.
  const isHitInTheMiddle = (node, box, width, height) => {
    const left = Math.max(box.left, 0), right = Math.min(box.right, width);
    const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, height);
    return right - left > 0.5 && bottom - top > 0.5 && eyes.isHitAt(node, (left + right) / 2, (top + bottom) / 2);
  };
  let view = null;
  let viewSize = null;
  const sizeOfView = (node) => {
    const own = dom.ownerDocument(node).defaultView;
    if (own !== view) {
      view = own;
      viewSize = { width: own.innerWidth, height: own.innerHeight };
    }
    return viewSize;
  };
  const frameLine = (line) => {
    const node = line.element;
    const parts = [];
    state(node, "title", dom.title(node) || dom.getAttribute(node, "aria-label") || node.name, parts);
    if (line.frame) state(node, "src", node.src, parts);
    return `<${["iframe", ...parts].join(" ")}>`;
  };

  const deepFocus = () => {
    let one = document.activeElement;
    for (let steps = 0; one && steps < 20; steps += 1) {
      let inner = eyes.knownRoot(one)?.activeElement;
      try {
        inner ||= one.contentDocument?.activeElement;
      } catch { /* another origin */ }
      if (!inner) break;
      one = inner;
    }
    return one && dom.localName(one) !== "body" ? one : null;
  };

  // Must be called before a document's elements are described, with what was found while reading it.
  eyes.beginDescribing = (found) => {
    labels = found.labels;
    areAllLabelsKnown = found.labelsMissed === 0;
    view = null;
    focused = deepFocus();
    hitTests = Math.max(MIN_HIT_TESTS, HIT_TEST_WORK / document.getElementsByTagName("*").length);
  };
  // The labels that an element has; null when that is not known, as not all of the document were met while reading it.
  const labelsMet = (node) => {
    const met = labels.get(node) || [];
    return areAllLabelsKnown && met.length < 2 ? met : null;
  };
  Object.assign(eyes, { describeElement, frameLine, labelsMet });
}
