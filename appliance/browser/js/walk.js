// Reads a document, its open shadow roots and its same-origin frames into lines, in one pass over the tree.
// The whole document is walked; only the lines of the window that is asked for are written out.
{
  const { squeeze, cut, quote } = eyes;
  const SKIP = 1, BLOCK = 2, CONTROL = 3, FRAME = 4, GRAPHIC = 5, IMAGE = 6, BREAK = 7, CELL = 8, HEADING = 9, ITEM = 10;
  const LABEL = 11, SLOT = 12, MEDIA = 13, RULE = 14;
  const KINDS = Object.assign(Object.create(null), {
    a: CONTROL, button: CONTROL, input: CONTROL, select: CONTROL, textarea: CONTROL, summary: CONTROL,
    iframe: FRAME, frame: FRAME, svg: GRAPHIC, canvas: IMAGE, img: IMAGE, br: BREAK, td: CELL, th: CELL, li: ITEM,
    h1: HEADING, h2: HEADING, h3: HEADING, h4: HEADING, h5: HEADING, h6: HEADING,
    label: LABEL, slot: SLOT, video: MEDIA, audio: MEDIA, hr: RULE,
  });
  for (const tag of "script style noscript template head meta link title base param source track datalist area map colgroup object embed".split(" ")) KINDS[tag] = SKIP;
  for (const tag of "div p section article main header footer nav aside form fieldset legend table tbody thead tfoot tr caption ul ol dl dt dd menu pre blockquote address figure figcaption details dialog hgroup search optgroup option body frameset center".split(" ")) KINDS[tag] = BLOCK;

  const ROLES = new Set("button link menuitem menuitemcheckbox menuitemradio option radio checkbox tab switch textbox combobox searchbox slider spinbutton treeitem".split(" "));
  // Formatting inside a text: without attributes of its own it is as visible as the text, and no control.
  const FORMATTING = new Set("b i em strong u s small sub sup code mark wbr cite q var kbd".split(" "));
  const CAN_HOST = new Set("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span".split(" "));
  const INDENTED = new Set("form nav dialog fieldset ul ol table details aside".split(" "));
  const VISIBLE = { visibilityProperty: true, opacityProperty: true };
  const MUTE = 1, INSIDE = 2, SEE_THROUGH = 4;
  const MAX_DEPTH = 800;
  const LONG_TEXT = 240;
  // In very large documents, only elements that carry attributes are asked for their cursor after this many.
  const MAX_CURSOR_CHECKS = 12000;

  const records = new WeakMap();
  let byReference = new Map();
  let lastReference = 0;
  let round = 0;

  // What one walk is filling.
  let lines, buffer, anchor, sink, depth, level, cursorChecks;
  let labels = new Map();
  let hinted = new Set();
  let hasInert = false;
  let hasModal = false;

  class Line {
    constructor(element, text, numbered) {
      this.element = element;
      this.text = text;
      this.numbered = numbered;
      this.indent = depth;
      this.mark = "";
      this.frame = false;
      this.container = false;
    }
  }

  const flush = () => {
    if (buffer === "") return;
    const text = squeeze(buffer).replace(/^(\| ?)+|( ?\|)+$/g, "").trim();
    buffer = "";
    if (text) lines.push(new Line(anchor, text, false));
  };
  const add = (text, element) => {
    if (sink) sink.text += text;
    else {
      if (buffer === "") anchor = element;
      buffer += text;
    }
  };
  const gap = () => {
    if (sink) sink.text += " ";
    else flush();
  };

  const visit = (parent, flags) => {
    for (let node = parent.firstChild; node; node = node.nextSibling) {
      const type = node.nodeType;
      if (type === 3) {
        if (!(flags & MUTE)) add(node.data, parent);
      } else if (type === 1) element(node, flags);
    }
  };
  const descend = (parent, flags) => {
    if (level >= MAX_DEPTH) {
      if (!(flags & MUTE)) add(parent.textContent, parent);
      return;
    }
    level += 1;
    const tag = parent.localName;
    const root = CAN_HOST.has(tag) || tag.includes("-") ? parent.shadowRoot : null;
    if (root) {
      eyes.observe(root);
      findHints(root);
      visit(root, flags);
    } else if (parent.firstElementChild === null) {
      if (!(flags & MUTE)) add(parent.textContent, parent);
    } else visit(parent, flags);
    level -= 1;
  };

  // Whether the element, not visible by itself, may still have something visible or usable inside.
  const lookInside = (node, kind, flags) => {
    const style = getComputedStyle(node);
    if (style.display === "none") {
      if (kind === CONTROL && node.type === "file") control(node, flags, "hidden");
      return -1;
    }
    if (style.display === "contents") return flags;
    if (style.visibility !== "visible") {
      if (kind === CONTROL || kind === FRAME) return -1;
      return flags | MUTE;
    }
    if (node.checkVisibility({ visibilityProperty: true })) {
      // Transparent: not readable, but a styled checkbox or a file field is used through its label.
      return flags | MUTE | SEE_THROUGH;
    }
    return -1;
  };

  const isFormControl = (node) => node.localName === "input" || node.localName === "select" || node.localName === "textarea";

  const element = (node, flags) => {
    const tag = node.localName;
    const kind = KINDS[tag];
    if (kind === SKIP) return;
    if (FORMATTING.has(tag) && !node.hasAttributes()) return visit(node, flags);
    if (flags & SEE_THROUGH) {
      if (isFormControl(node) && node.type !== "hidden") control(node, flags, "");
      else descend(node, flags);
      return;
    }
    if (kind === SLOT) return slot(node, flags);
    if (!node.checkVisibility(VISIBLE)) {
      flags = lookInside(node, kind, flags);
      if (flags < 0) return;
      if (flags & SEE_THROUGH && isFormControl(node)) {
        if (node.type !== "hidden") control(node, flags, "");
        return;
      }
    } else flags &= ~MUTE | (flags & SEE_THROUGH ? MUTE : 0);
    switch (kind) {
      case CONTROL:
        if (tag === "a" && !node.hasAttribute("href") && !isMarked(node, flags)) return inline(node, flags);
        if (tag === "input" && node.type === "hidden") return;
        return control(node, flags, "");
      case FRAME: return frame(node, flags);
      case GRAPHIC: return graphic(node, flags);
      case IMAGE: return image(node, flags);
      case BREAK: return gap();
      case RULE: return gap();
      case MEDIA: return node.controls ? control(node, flags, "") : undefined;
    }
    if (flags & INSIDE) {
      if (isExplicit(node)) return control(node, flags, "");
    } else if (isMarked(node, flags)) return marked(node, kind, flags);
    switch (kind) {
      case undefined: return inline(node, flags);
      case CELL: return cell(node, flags);
      case LABEL: return label(node, flags);
    }
    block(node, kind, flags);
  };

  const inline = (node, flags) => {
    const before = sink ? sink.text : buffer;
    // Only where words would run together does it matter how the element is laid out.
    if (before === "" || /\s$/.test(before)) return descend(node, flags);
    const display = getComputedStyle(node).display;
    if (display === "inline" || display === "contents") return descend(node, flags);
    if (display.startsWith("inline")) add(" ", node);
    else gap();
    descend(node, flags);
    if (!display.startsWith("inline")) gap();
  };

  const slot = (node, flags) => {
    const assigned = node.assignedNodes({ flatten: true });
    if (!assigned.length) return visit(node, flags);
    for (const one of assigned) {
      if (one.nodeType === 3) {
        if (!(flags & MUTE)) add(one.data, node.parentNode.host || node.parentElement);
      } else if (one.nodeType === 1) element(one, flags);
    }
  };

  const block = (node, kind, flags) => {
    gap();
    const tag = node.localName;
    const inner = INDENTED.has(tag) && depth < 5 ? 1 : 0;
    const from = lines.length;
    if (tag === "dialog" || (hinted.has(node) && /^(alert)?dialog$/.test(node.getAttribute("role") || ""))) {
      lines.push(new Line(node, "dialog:", false));
      if (tag === "dialog" && node.matches(":modal")) hasModal = true;
    }
    depth += inner;
    if (kind === HEADING) add(`${"#".repeat(+tag[1])} `, node);
    else if (kind === ITEM && !sink) add("- ", node);
    descend(node, flags);
    if (!sink && /^(#+|-)\s*$/.test(buffer)) buffer = "";
    gap();
    depth -= inner;
    if (lines.length > from && lines[from].text === "-") lines.splice(from, 1);
  };

  const cell = (node, flags) => {
    if (sink || buffer.trim()) add(" | ", node);
    descend(node, flags);
    add(" ", node);
  };

  const USED_THROUGH_LABEL = /^(checkbox|radio|file)$/;
  const label = (node, flags) => {
    const target = node.control;
    if (!target || target.type === "hidden") return inline(node, flags);
    if (labels.has(target)) labels.get(target).push(node);
    else labels.set(target, [node]);
    // The label's text is on the line of its control; only a control that is not drawn is used through the label.
    if (!target.checkVisibility({ visibilityProperty: true })) {
      return USED_THROUGH_LABEL.test(target.type) ? control(node, flags, "") : inline(node, flags);
    }
    descend(node, flags | MUTE | INSIDE);
  };

  const graphic = (node, flags) => {
    if (!(flags & INSIDE) && isMarked(node, flags)) return control(node, flags, "");
    if (flags & MUTE) return;
    const words = [...node.querySelectorAll("text")].map((one) => one.textContent);
    const name = node.getAttribute("aria-label") || node.querySelector("title")?.textContent || "";
    if (words.length || name) add(` ${[name, ...words].filter(Boolean).join(" ")} `, node);
    for (const link of node.querySelectorAll("a")) control(link, flags, "");
  };

  const image = (node, flags) => {
    if (!(flags & INSIDE) && isMarked(node, flags)) return control(node, flags, "");
    if (flags & MUTE) return;
    const name = node.getAttribute("alt") || node.getAttribute("aria-label") || node.getAttribute("title");
    if (name && sink) add(` ${name} `, node);
    else if (name) add(` (image: ${name}) `, node);
    else if (node.localName === "canvas") descend(node, flags);
  };

  // Elements that attributes may make a control or a dialog, found by one query per tree: cheaper than asking each.
  const HINTS = "[role], [tabindex], [onclick], [contenteditable], [inert]";
  const findHints = (root) => {
    for (const node of root.querySelectorAll(HINTS)) {
      hinted.add(node);
      if (node.inert) hasInert = true;
    }
  };
  const isExplicit = (node) => {
    if (!hinted.has(node)) return false;
    const role = node.getAttribute("role");
    if (role !== null && ROLES.has(role)) return true;
    return node.hasAttribute("onclick") || (node.hasAttribute("contenteditable") && node.isContentEditable);
  };
  // Whether an element that is no control by its tag was made one.
  const isMarked = (node, flags) => {
    if (hinted.has(node)) {
      if (isExplicit(node)) return true;
      const tabindex = node.getAttribute("tabindex");
      if (tabindex !== null && tabindex[0] !== "-") return true;
    }
    if (flags & INSIDE) return false;
    if (cursorChecks > MAX_CURSOR_CHECKS && !node.hasAttributes()) return false;
    cursorChecks += 1;
    return getComputedStyle(node).cursor === "pointer";
  };

  // A marked element is one line, unless it is a container with things of its own inside.
  const CONTENT = "a[href], button, input, select, textarea, [role=button], [role=link], [onclick], iframe";
  const marked = (node, kind, flags) => {
    if (node.localName === "body") return block(node, kind, flags);
    if (kind === LABEL && node.control) return label(node, flags);
    const isContainer =
      !node.shadowRoot && (node.textContent.length > LONG_TEXT || (node.firstElementChild && node.querySelector(CONTENT)));
    if (!isContainer || (node.isContentEditable && node.hasAttribute("contenteditable"))) return control(node, flags, "");
    gap();
    const line = new Line(node, "", true);
    line.container = true;
    lines.push(line);
    depth += 1;
    descend(node, flags);
    gap();
    depth -= 1;
  };

  const control = (node, flags, mark) => {
    if (!sink) flush();
    const line = new Line(node, "", true);
    line.mark = mark;
    lines.push(line);
    const tag = node.localName;
    if (tag === "input" || tag === "select" || tag === "textarea" || tag === "video" || tag === "audio") return;
    if (tag === "svg" || tag === "img" || tag === "canvas" || mark) return;
    const outer = sink;
    sink = line;
    depth += 1;
    descend(node, flags | INSIDE);
    depth -= 1;
    sink = outer;
    line.text = squeeze(line.text);
  };

  const frame = (node, flags) => {
    gap();
    const box = node.getBoundingClientRect();
    if (box.width < 10 || box.height < 10) return;
    let inner = null;
    try {
      inner = node.contentDocument;
    } catch { /* another origin */ }
    const line = new Line(node, "", false);
    line.frame = !inner;
    lines.push(line);
    if (!inner) return;
    eyes.observe(inner);
    findHints(inner);
    const outer = sink;
    sink = null;
    depth += 1;
    const root = inner.body || inner.documentElement;
    if (root) descend(root, flags & ~INSIDE);
    flush();
    depth -= 1;
    sink = outer;
  };

  // ---- writing lines out -------------------------------------------------------------------------------------

  const NAMED_INPUT = /^(checkbox|radio|submit|button|reset|image|file|password|email|number|date|time|datetime-local|month|week|search|tel|url|range|color)$/;
  const state = (node, name, value, parts) => {
    if (value === true || value === "true") parts.push(name);
    else if (value === "false") parts.push(`${name}=false`);
    else if (value) parts.push(`${name}=${quote(cut(squeeze(String(value)), 100))}`);
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
    } else if (!/^(submit|button|reset|image)$/.test(type)) state(node, "value", node.value, parts);
    state(node, "multiple", node.multiple, parts);
    for (const name of ["min", "max", "step", "pattern"]) state(node, name, node.getAttribute(name), parts);
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
    state(node, "placeholder", node.getAttribute("placeholder") || node.getAttribute("aria-placeholder"), parts);
    state(node, "required", node.required === true || node.getAttribute("aria-required") === "true", parts);
    state(node, "readonly", node.readOnly === true && /^(input|textarea)$/.test(node.localName), parts);
    state(node, "disabled", node.matches(":disabled") || node.getAttribute("aria-disabled") === "true", parts);
    for (const attribute of node.getAttributeNames()) {
      if (!attribute.startsWith("aria-")) continue;
      const name = attribute.slice(5);
      const value = ARIA.has(name) ? node.getAttribute(attribute) : null;
      if (value !== null && !(value === "false" && /^(invalid|haspopup|current)$/.test(name))) state(node, name, value, parts);
    }
    if (node.localName === "summary" && node.parentElement?.localName === "details") {
      parts.push(node.parentElement.open ? "expanded" : "expanded=false");
    }
    if (node.willValidate && node.matches(":user-invalid")) state(node, "invalid", node.validationMessage, parts);
    if (hasInert && node.closest("[inert]")) parts.push("inert");
    if (node === focused) parts.push("focused");
  };

  let focused = null;

  // Everything of an element after its number, its name and its role.
  const describeElement = (line) => {
    const node = line.element;
    const tag = node.localName;
    const parts = [];
    const role = node.getAttribute("role");
    if (role && role !== tag) parts.push(`role=${quote(cut(role, 30))}`);
    let name = line.text;
    if (tag === "a") state(node, "href", node.hasAttribute("href") || node.hasAttribute("xlink:href") ? eyes.shortHref(node) : "", parts);
    else if (tag === "input") inputParts(node, parts);
    else if (tag === "select") selectParts(node, parts);
    else if (tag === "textarea") state(node, "value", eyes.isSecret(node) ? "" : cut(node.value, 200), parts);
    else if (tag === "label" && node.control) {
      parts.push(`for=${node.control.type}`);
      if (node.control.checked) parts.push("checked");
      if (node.control.disabled) parts.push("disabled");
    } else if (tag === "button" && node.type === "submit" && node.form) parts.push("type=submit");
    if (node.isContentEditable && node.hasAttribute("contenteditable")) parts.push("editable");
    commonParts(node, parts);
    if (!name && tag === "input" && /^(submit|button|reset)$/.test(node.type)) name = node.value || node.type;
    if (!name) name = eyes.controlName(node, labels.get(node)) || (line.container ? "" : eyes.pictureName(node));
    if (!name) fallbackParts(node, parts);
    if (line.mark) parts.push(line.mark);
    const cover = coverOf(node);
    if (cover) parts.push(`covered-by=${quote(cover)}`);
    return [`<${[tag, ...parts].join(" ")}>${name}`, name, role || implied(node, tag)];
  };
  const fallbackParts = (node, parts) => {
    // Without any word to know it by, what the author called it may help.
    const own = node.getAttribute("name") || node.id || (typeof node.className === "string" ? node.className : "");
    const kind = node.getAttribute("name") ? "name" : node.id ? "id" : "class";
    if (own) parts.push(`${kind}=${quote(cut(squeeze(own), 60))}`);
  };
  const implied = (node, tag) => {
    if (tag === "a") return "link";
    if (tag === "select") return node.multiple ? "listbox" : "combobox";
    if (tag === "textarea") return "textbox";
    if (tag !== "input") return tag === "button" || tag === "summary" ? "button" : "";
    if (/^(checkbox|radio)$/.test(node.type)) return node.type;
    return /^(submit|button|reset|image)$/.test(node.type) ? "button" : "textbox";
  };

  // What lies on top of an element that is in view; "" when a click reaches it.
  // A hit test takes longer the larger the document is: very large ones get fewer. (By count and not by time, so that
  // equal pages read equal.) Whoever points at an element tests it anyway.
  const HIT_TEST_WORK = 5e5;
  const MIN_HIT_TESTS = 8;
  let hitTests = 0;
  const coverOf = (node) => {
    if (hitTests <= 0) return "";
    const box = node.getBoundingClientRect();
    const view = node.ownerDocument.defaultView;
    if (box.width === 0 || box.height === 0) return "";
    if (box.bottom <= 0 || box.right <= 0 || box.top >= view.innerHeight || box.left >= view.innerWidth) return "";
    hitTests -= 1;
    const found = eyes.hit(node);
    return found && found.covered ? found.covered : "";
  };

  const reference = (node) => {
    let record = records.get(node);
    if (!record) records.set(node, (record = { reference: ++lastReference, round: 0 }));
    return record;
  };

  const frameLine = (line) => {
    const node = line.element;
    const parts = [];
    state(node, "title", node.title || node.getAttribute("aria-label") || node.name, parts);
    if (line.frame) state(node, "src", node.src, parts);
    return `<${["iframe", ...parts].join(" ")}>`;
  };

  // The first line to show: a little above the one at the top of the viewport.
  const firstInView = () => {
    if (scrollY < 1) return 0;
    let low = 0;
    let high = lines.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lines[middle].element.getBoundingClientRect().bottom < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const read = () => {
    lines = [];
    labels = new Map();
    hinted = new Set();
    hasInert = hasModal = false;
    findHints(document);
    cursorChecks = 0;
    buffer = "";
    sink = null;
    anchor = document.body;
    depth = level = 0;
    const root = document.body || document.documentElement;
    if (root) descend(root, 0);
    flush();
  };

  const deepFocus = () => {
    let one = document.activeElement;
    for (let steps = 0; one && steps < 20; steps += 1) {
      let inner = one.shadowRoot?.activeElement;
      try {
        inner ||= one.contentDocument?.activeElement;
      } catch { /* another origin */ }
      if (!inner) break;
      one = inner;
    }
    return one && one.localName !== "body" ? one : null;
  };

  const write = (from, budget) => {
    focused = deepFocus();
    hitTests = Math.max(MIN_HIT_TESTS, HIT_TEST_WORK / document.getElementsByTagName("*").length);
    const out = [];
    let size = 0;
    let index = from;
    for (; index < lines.length && size < budget; index += 1) {
      const line = lines[index];
      const pad = " ".repeat(line.indent);
      let entry;
      if (line.numbered) {
        const [text, name, role] = describeElement(line);
        const record = reference(line.element);
        byReference.set(record.reference, line.element);
        entry = [record.reference, round > 1 && record.round < round - 1 ? 1 : 0, pad, text, line.element.localName, role, cut(name, 120)];
        size += text.length + 6;
      } else if (line.element && (line.frame || (line.text === "" && /^i?frame$/.test(line.element.localName)))) {
        const text = frameLine(line);
        const record = line.frame ? reference(line.element) : null;
        if (record) byReference.set(record.reference, line.element);
        entry = [record ? -record.reference : 0, 0, pad, text];
        size += text.length;
      } else {
        entry = [0, 0, pad, line.text];
        size += line.text.length;
      }
      size += pad.length + 1;
      out.push(entry);
    }
    return [out, index];
  };

  const hashAll = () => {
    let hash = 5381;
    for (const line of lines) {
      const text = line.text;
      hash = (hash * 33 + text.length + (line.numbered ? 7 : 0)) | 0;
      for (let at = 0; at < text.length; at += 1) hash = (hash * 33 + text.charCodeAt(at)) | 0;
    }
    return hash >>> 0;
  };

  // Reads the document and returns, as JSON, the lines of the window that fits `budget` characters.
  eyes.collect = (budget, inFrame) => {
    round += 1;
    byReference = new Map();
    read();
    let total = 0;
    for (const line of lines) total += line.text.length + (line.numbered ? 30 : 1) + line.indent;
    let from = 0;
    if (total > budget && !inFrame) {
      from = firstInView();
      for (let back = budget / 8; from > 0 && back > 0; from -= 1) back -= lines[from - 1].text.length + 20;
    }
    const [out, end] = write(from, budget);
    // Every numbered element of the document was seen now, also those not written out.
    for (const line of lines) if (line.numbered) reference(line.element).round = round;
    const page = document.scrollingElement || document.documentElement;
    return JSON.stringify({
      url: location.href,
      title: document.title,
      above: Math.round(scrollY),
      below: Math.max(0, Math.round((page?.scrollHeight || 0) - innerHeight - scrollY)),
      height: innerHeight,
      from,
      end,
      total: lines.length,
      lines: out,
      hash: hashAll(),
      mutations: eyes.count(),
      loading: document.readyState === "loading",
      modal: hasModal,
    });
  };

  // More lines of the document as it was read last.
  eyes.more = (from, budget) => {
    if (!lines) read();
    const [out, end] = write(from, budget);
    return JSON.stringify({ from, end, total: lines.length, lines: out });
  };

  // The element of a reference, null when it has left its document.
  eyes.find = (number) => {
    const node = byReference.get(number);
    return node && node.isConnected ? node : null;
  };
}
