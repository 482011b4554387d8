// Reads a document, its shadow roots and its same-origin frames into lines, in one pass over the tree.
{
  const { squeeze, dom, Kin } = eyes;
  // Asked of every node: taken out of `dom`, whose fields are slower to reach.
  const { firstChild, nextSibling, nodeType, tagOf, textContent, firstElementChild, hasAttributes, hasAttribute, getAttribute, checkVisibility } = dom;
  const { SKIP, CONTROL, FRAME, GRAPHIC, IMAGE, BREAK, CELL, HEADING, ITEM, LABEL, SLOT, MEDIA, RULE } = eyes.KIND;
  const { KINDS, ROLES, FORMATTING, CAN_HOST, INDENTED } = eyes;
  const VISIBLE = { visibilityProperty: true, opacityProperty: true };
  const MUTE = 1, INSIDE = 2, SEE_THROUGH = 4, POINTED = 8, LABELLING = 16;
  // Text that is not shown where it stands: it is not visible, or the name of a control beside it.
  const SILENT = MUTE | LABELLING;
  const MAX_DEPTH = 800;
  const LONG_TEXT = 240;

  // What one walk is filling.
  let lines, buffer, anchor, sink, depth, level, group, floats, kin;
  let labels = new Map();
  let labelsMissed = 0; // how many labels were not met, or not as such
  let shownTarget = null; // of a label read before: it was found to be visible
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
      this.group = group; // the block it stands in
      this.floats = floats; // whether it may be drawn elsewhere than that
    }
  }

  // A block that lines stand in; what is far from the view is found block by block.
  const NONE = [];
  const enter = (node) => {
    const inner = { element: node, outer: group, inner: NONE, side: 0, box: null };
    if (group) group.inner === NONE ? (group.inner = [inner]) : group.inner.push(inner);
    return (group = inner);
  };
  const flush = () => {
    if (buffer === "") return;
    let text = squeeze(buffer);
    if (text.includes("|")) text = text.replace(/^(\| ?)+|( ?\|)+$/g, "").trim();
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

  // Goes through what an element or its shadow root holds; text in a root by itself has its place in the element.
  const visit = (parent, flags, holder = parent) => {
    for (let node = firstChild(parent); node; node = nextSibling(node)) {
      const type = nodeType(node);
      if (type === 3) {
        if (!(flags & SILENT)) add(node.data, holder);
      } else if (type === 1) element(node, flags);
    }
  };
  const descend = (parent, flags, tag = tagOf(parent)) => {
    if (level >= MAX_DEPTH) {
      if (!(flags & SILENT)) add(textContent(parent), parent);
      return;
    }
    level += 1;
    const root = CAN_HOST.has(tag) || tag.includes("-") ? eyes.rootOf(parent, tag) : null;
    if (root) {
      eyes.observe(root);
      countLabels(root);
      const outer = kin;
      kin = new Kin();
      visit(root, flags, parent);
      kin = outer;
    } else if (firstElementChild(parent) === null) {
      const text = textContent(parent);
      if (!(flags & SILENT)) add(text, parent);
      if (text === "" && CAN_HOST.has(tag)) eyes.suspect(parent);
    } else {
      const outer = kin;
      kin = kin.of(parent, tag) || new Kin();
      visit(parent, flags);
      kin = outer;
    }
    level -= 1;
  };

  // Whether the element, not visible by itself, may still have something visible or usable inside.
  const lookInside = (node, kind, flags) => {
    const style = getComputedStyle(node);
    // Not drawn at all, without a rule that says so: it is in a closed shadow root's host, and not in a slot of it.
    if (style.display === "") eyes.suspect(dom.parentElement(node));
    if (style.display === "none") {
      if (kind === CONTROL && node.type === "file") control(node, flags, "hidden");
      return -1;
    }
    if (style.display === "contents") return flags;
    if (style.visibility !== "visible") {
      if (kind === CONTROL || kind === FRAME) return -1;
      return flags | MUTE;
    }
    if (checkVisibility(node, { visibilityProperty: true })) {
      // Transparent: not readable, but a styled checkbox or a file field is used through its label.
      return flags | MUTE | SEE_THROUGH;
    }
    return -1;
  };

  const isFormControl = (node) => tagOf(node) === "input" || tagOf(node) === "select" || tagOf(node) === "textarea";

  const element = (node, flags) => {
    const tag = tagOf(node);
    const kind = KINDS[tag];
    if (kind === SKIP) return;
    if (FORMATTING.has(tag) && !hasAttributes(node)) return inline(node, flags);
    if (flags & SEE_THROUGH) {
      if (isFormControl(node) && node.type !== "hidden") control(node, flags, "");
      else descend(node, flags);
      return;
    }
    if (kind === SLOT) return slot(node, flags);
    if (node !== shownTarget && !checkVisibility(node, VISIBLE)) {
      flags = lookInside(node, kind, flags);
      if (flags < 0) return;
      if (flags & SEE_THROUGH && isFormControl(node)) {
        if (node.type !== "hidden") control(node, flags, "");
        return;
      }
    } else flags &= ~MUTE | (flags & SEE_THROUGH ? MUTE : 0);
    switch (kind) {
      case CONTROL:
        if (tag === "a" && !hasAttribute(node, "href") && !isMarked(node, flags)) return inline(node, flags);
        if (tag === "input" && node.type === "hidden") return;
        return control(node, flags, "");
      case FRAME: return frame(node, flags);
      case GRAPHIC: return graphic(node, flags);
      case IMAGE: return image(node, flags);
      case BREAK: return gap();
      case RULE: return gap();
      case MEDIA: return node.controls ? control(node, flags, "") : undefined;
    }
    if (kind === LABEL && node.control === null) labelsMissed -= 1;
    if (flags & INSIDE) {
      if (isExplicit(node)) return control(node, flags, "");
    } else if (kind === LABEL && node.control) {
      isPlaced = false;
      return label(node, flags);
    } else if (isMarked(node, flags)) return marked(node, kind, flags);
    switch (kind) {
      case undefined: return isPlaced ? placedInline(node, flags) : inline(node, flags);
      case CELL: return cell(node, flags);
      case LABEL: return label(node, flags);
    }
    block(node, kind, flags);
  };

  const isSpace = (code) => code <= 32 || code === 160;
  // Whether words would run together before or after an element, were it not for how it is laid out.
  const touchesWords = (node) => {
    const before = sink ? sink.text : buffer;
    if (before !== "" && !isSpace(before.charCodeAt(before.length - 1))) return true;
    const next = nextSibling(node);
    return next !== null && nodeType(next) === 3 && !isSpace(next.data.charCodeAt(0));
  };
  const inline = (node, flags) => {
    if (!touchesWords(node)) return descend(node, flags);
    const display = getComputedStyle(node).display;
    if (display === "inline" || display === "contents" || display === "ruby") return descend(node, flags);
    const isBeside = display.startsWith("inline");
    if (isBeside) add(" ", node);
    else gap();
    descend(node, flags);
    if (isBeside) add(" ", node);
    else gap();
  };

  const placedInline = (node, flags) => {
    const outer = floats;
    floats = true;
    isPlaced = false;
    inline(node, flags);
    floats = outer;
  };

  const slot = (node, flags) => {
    const assigned = node.assignedNodes({ flatten: true });
    if (!assigned.length) return visit(node, flags);
    for (const one of assigned) {
      if (nodeType(one) === 3) {
        if (!(flags & SILENT)) add(one.data, dom.parentElement(node) || dom.parentNode(node).host);
      } else if (nodeType(one) === 1) element(one, flags);
    }
  };

  const block = (node, kind, flags) => {
    gap();
    const tag = tagOf(node);
    const inner = INDENTED.has(tag) && depth < 5 ? 1 : 0;
    const from = lines.length;
    const [outerGroup, outerFloats] = [group, floats];
    enter(node);
    floats = outerFloats || isPlaced;
    isPlaced = false;
    if (tag === "dialog" || isDialog(node)) {
      lines.push(new Line(node, "dialog:", false));
      if (tag === "dialog" && dom.matches(node, ":modal")) hasModal = true;
    }
    depth += inner;
    if (kind === HEADING) add(`${"#".repeat(+tag[1])} `, node);
    else if (kind === ITEM && !sink) add("- ", node);
    descend(node, flags);
    if (!sink && /^(#+|-)\s*$/.test(buffer)) buffer = "";
    gap();
    depth -= inner;
    group = outerGroup;
    floats = outerFloats;
    if (lines.length > from && lines[from].text === "-") lines.splice(from, 1);
  };

  const isDialog = (node) => {
    const role = hasAttributes(node) ? getAttribute(node, "role") : null;
    return role === "dialog" || role === "alertdialog";
  };

  const cell = (node, flags) => {
    if (sink || buffer.trim()) add(" | ", node);
    descend(node, flags);
    add(" ", node);
  };

  const countLabels = (root) => {
    labelsMissed += dom.querySelectorAll(root, "label").length;
  };
  const USED_THROUGH_LABEL = /^(checkbox|radio|file)$/;
  const label = (node, flags) => {
    const target = node.control;
    if (!target || target.type === "hidden") return inline(node, flags);
    const others = labels.get(target);
    if (others) others.push(node);
    else labels.set(target, [node]);
    labelsMissed -= 1;
    // The label's text is on the line of its control; only a control that is not drawn is used through the label.
    if (checkVisibility(target, VISIBLE)) shownTarget = target;
    else if (!checkVisibility(target, { visibilityProperty: true })) {
      return USED_THROUGH_LABEL.test(target.type) ? control(node, flags, "") : inline(node, flags);
    }
    descend(node, flags | LABELLING | INSIDE);
  };

  const graphic = (node, flags) => {
    if (!(flags & INSIDE) && isMarked(node, flags)) return control(node, flags, "");
    if (flags & SILENT) return;
    const parts = flags & INSIDE ? [] : eyes.partsOf(node);
    const words = [...dom.querySelectorAll(node, "text")].filter((one) => !parts.some((part) => dom.contains(part, one)));
    const name = getAttribute(node, "aria-label") || eyes.titleOf(node);
    const text = [name, ...words.map((one) => textContent(one))].filter(Boolean).join(" ");
    if (text) add(` ${text} `, node);
    for (const part of parts) control(part, flags | INSIDE, "");
  };

  const image = (node, flags) => {
    if (!(flags & INSIDE) && isMarked(node, flags)) return control(node, flags, "");
    if (flags & SILENT) return;
    const name = getAttribute(node, "alt") || getAttribute(node, "aria-label") || getAttribute(node, "title");
    if (name && sink) add(` ${name} `, node);
    else if (name) add(` (image: ${name}) `, node);
    else if (tagOf(node) === "canvas") descend(node, flags);
    if (node.useMap) for (const area of eyes.areasOf(node)) control(area, flags, "");
  };

  // Whether an attribute, or what the browser told of its listeners, makes an element a control.
  const isExplicit = (node) => {
    if (eyes.reacts(node)) return true;
    if (!hasAttributes(node)) return false;
    const role = getAttribute(node, "role");
    if (role !== null && ROLES.has(role)) return true;
    return hasAttribute(node, "onclick") || (hasAttribute(node, "contenteditable") && dom.isContentEditable(node));
  };
  // Whether the element that was asked last is drawn in another place than the text around it.
  let isPlaced = false;
  // Whether an element that is no control by its tag was made one.
  const isMarked = (node, flags) => {
    isPlaced = false;
    const alike = kin.of(node);
    if (alike !== null) {
      // It has no attributes but a class.
      if (eyes.reacts(node)) return true;
    } else {
      if (isExplicit(node)) return true;
      const tabindex = getAttribute(node, "tabindex");
      if (tabindex !== null && tabindex[0] !== "-") return true;
    }
    // Inside of what shows a pointer everything shows it.
    if (flags & (INSIDE | POINTED)) return false;
    const asked = (alike || new Kin()).ask(node);
    ({ isPlaced } = asked);
    return asked.isPointed;
  };

  // A marked element is one line, unless it is a container with things of its own inside.
  const CONTENT = "a[href], button, input, select, textarea, [role=button], [role=link], [onclick], iframe";
  const marked = (node, kind, flags) => {
    if (tagOf(node) === "body") return block(node, kind, flags);
    const isContainer =
      !dom.shadowRoot(node) && (textContent(node).length > LONG_TEXT || (firstElementChild(node) && dom.querySelector(node, CONTENT)));
    if (!isContainer || (dom.isContentEditable(node) && dom.hasAttribute(node, "contenteditable"))) return control(node, flags, "");
    gap();
    const [outerGroup, outerFloats] = [group, floats];
    enter(node);
    floats = outerFloats || isPlaced;
    const line = new Line(node, "", true);
    line.container = true;
    lines.push(line);
    depth += 1;
    descend(node, flags | POINTED);
    gap();
    depth -= 1;
    group = outerGroup;
    floats = outerFloats;
  };

  const control = (node, flags, mark) => {
    if (!sink) flush();
    const line = new Line(node, "", true);
    line.mark = mark;
    lines.push(line);
    const tag = tagOf(node);
    if (tag === "input" || tag === "select" || tag === "textarea" || tag === "video" || tag === "audio") return;
    if (tag === "svg" || tag === "img" || tag === "canvas" || tag === "area" || mark) return;
    const outer = sink;
    sink = line;
    depth += 1;
    descend(node, (flags & ~LABELLING) | INSIDE);
    depth -= 1;
    sink = outer;
    line.text = squeeze(line.text);
  };

  const frame = (node, flags) => {
    gap();
    const box = dom.getBoundingClientRect(node);
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
    countLabels(inner);
    const [outer, outerGroup, outerKin] = [sink, group, kin];
    sink = null;
    kin = new Kin();
    enter(node);
    depth += 1;
    const root = inner.body || inner.documentElement;
    if (root) descend(root, flags & ~INSIDE);
    flush();
    depth -= 1;
    [sink, group, kin] = [outer, outerGroup, outerKin];
  };

  // Reads the document and returns its lines, with what is needed to write them out.
  eyes.read = () => {
    lines = [];
    labels = new Map();
    labelsMissed = 0;
    shownTarget = null;
    hasModal = false;
    countLabels(document);
    kin = new Kin();
    buffer = "";
    sink = null;
    anchor = document.body;
    group = null;
    const top = enter(document.body);
    floats = isPlaced = false;
    depth = level = 0;
    eyes.beginSuspecting();
    const root = document.body || document.documentElement;
    if (root) descend(root, 0);
    flush();
    kin = shownTarget = null;
    return { lines, labels, labelsMissed, hasModal, top };
  };
}
