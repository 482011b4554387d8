// Finds where a click reaches an element, scrolling and hit testing through shadow roots and frames.
{
  const { dom } = eyes;
  const deepHit = (node, x, y) => {
    let root = dom.getRootNode(node);
    if (!root.elementFromPoint) root = dom.ownerDocument(node);
    return root.elementFromPoint(x, y);
  };
  const composedParent = (node) => dom.assignedSlot(node) || dom.parentNode(node) || (dom.nodeType(node) === 11 && node.host) || null;
  const isWithin = (outer, node) => {
    for (let one = node; one; one = composedParent(one)) if (one === outer) return true;
    return false;
  };
  const clipRect = (node, box) => {
    const view = dom.ownerDocument(node).defaultView;
    return {
      left: Math.max(box.left, 0),
      top: Math.max(box.top, 0),
      right: Math.min(box.right, view.innerWidth),
      bottom: Math.min(box.bottom, view.innerHeight),
    };
  };

  // Points to try: the middle of each box the element has (a wrapped link has several), then places off the middle.
  function* pointsOf(node) {
    const boxes = eyes.boxesOf(node).slice(0, 8).map((box) => clipRect(node, box));
    const open = boxes.filter((box) => box.right - box.left > 0.5 && box.bottom - box.top > 0.5);
    for (const [dx, dy] of [[0.5, 0.5], [0.2, 0.3], [0.8, 0.7], [0.2, 0.7], [0.8, 0.3]]) {
      for (const box of open) yield [box.left + (box.right - box.left) * dx, box.top + (box.bottom - box.top) * dy];
    }
  }

  const scrolls = (style) => /auto|scroll/.test(style.overflowX + style.overflowY);
  // Whether the point is cut off by a container of the element, and if that can be scrolled.
  const clippedBy = (node, x, y) => {
    for (let one = composedParent(node); one && dom.nodeType(one) !== 9; one = composedParent(one)) {
      if (dom.nodeType(one) !== 1) continue;
      const style = getComputedStyle(one);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const box = dom.getBoundingClientRect(one);
      if (x < box.left || x > box.right || y < box.top || y > box.bottom) return scrolls(style) ? "scroll" : "clip";
    }
    return "";
  };

  // {x, y} where a click on the element lands on it, {covered} when something else is on top, null without a box.
  eyes.hit = (node) => {
    let first = null;
    let cover = null;
    for (const [x, y] of pointsOf(node)) {
      first ||= [x, y];
      const hit = deepHit(node, x, y);
      if (isHit(node, hit)) return { x, y, covered: "" };
      if (!cover) cover = hit;
    }
    if (!first) return null;
    const [x, y] = first;
    if (!cover) return { x, y, covered: "" };
    const clip = clippedBy(node, x, y);
    if (clip === "scroll") return { x, y, covered: "" };
    if (clip === "clip") return { x, y, covered: "cut off by its container" };
    if (isWithin(cover, node)) {
      return { x, y, covered: getComputedStyle(node).pointerEvents === "none" ? "takes no clicks" : "" };
    }
    return { x, y, covered: eyes.describe(cover) };
  };
  const isHit = (node, hit) => hit === node || (!!hit && (isWithin(node, hit) || isLabelOf(hit, node)));
  // Whether what lies at a point is the element, a part of it or its label.
  eyes.isHitAt = (node, x, y) => isHit(node, deepHit(node, x, y));
  const isLabelOf = (hit, node) => {
    const label = hit.closest && dom.closest(hit, "label");
    return !!label && label.control === node;
  };

  const center = (node) => dom.scrollIntoView(node, { block: "center", inline: "nearest", behavior: "instant" });
  const isInView = (node) => {
    const view = dom.ownerDocument(node).defaultView;
    const box = dom.getBoundingClientRect(node);
    const x = box.left + box.width / 2;
    const y = box.top + box.height / 2;
    if (x < 0 || y < 0 || x > view.innerWidth || y > view.innerHeight) return false;
    return clippedBy(node, x, y) !== "scroll";
  };
  const drawn = (node) => {
    // A control that is not drawn is used through its label.
    const box = dom.getBoundingClientRect(node);
    if (box.width > 1 && box.height > 1) return node;
    const label = dom.labels(node) && [...dom.labels(node)].find((one) => dom.getClientRects(one).length);
    return label || node;
  };

  eyes.reveal = (reference) => {
    const node = eyes.find(reference);
    if (!node) return null;
    const shown = drawn(node);
    for (let one = shown; one; one = dom.ownerDocument(one).defaultView.frameElement) if (!isInView(one)) center(one);
    return true;
  };

  // The click point in the coordinates of this script's own document.
  eyes.point = (reference) => {
    const node = eyes.find(reference);
    if (!node) return null;
    eyes.reveal(reference);
    const found = eyes.hit(drawn(node));
    return found ? outOf(node, found) : {};
  };

  // A place inside an element, in parts of its width and height, in the coordinates of this script's own document.
  eyes.pointIn = (reference, across, down) => {
    const node = eyes.find(reference);
    if (!node) return null;
    eyes.reveal(reference);
    const view = dom.ownerDocument(node).defaultView;
    const place = () => {
      const box = dom.getBoundingClientRect(node);
      return { x: box.left + box.width * across, y: box.top + box.height * down, isEmpty: !box.width || !box.height };
    };
    let { x, y, isEmpty } = place();
    if (isEmpty) return {};
    if (x < 0 || y < 0 || x >= view.innerWidth || y >= view.innerHeight) {
      view.scrollBy({ left: x - view.innerWidth / 2, top: y - view.innerHeight / 2, behavior: "instant" });
      ({ x, y } = place());
    }
    const hit = deepHit(node, x, y);
    const covered = isHit(node, hit) ? "" : hit ? eyes.describe(hit) : "the edge of the window";
    return outOf(node, { x, y, covered });
  };

  const outOf = (node, { x, y, covered }) => {
    let view = dom.ownerDocument(node).defaultView;
    while (view !== window && view.frameElement) {
      const shifted = shift(view.frameElement, x, y);
      ({ x, y } = shifted);
      covered ||= shifted.covered;
      view = view.parent;
    }
    return { x, y, covered: covered || null };
  };

  // A point inside a frame in the coordinates of the document around it.
  const shift = (frameElement, x, y) => {
    const box = frameElement.getBoundingClientRect();
    const style = getComputedStyle(frameElement);
    const outer = {
      x: x + box.left + frameElement.clientLeft + parseFloat(style.paddingLeft),
      y: y + box.top + frameElement.clientTop + parseFloat(style.paddingTop),
    };
    const hit = deepHit(frameElement, outer.x, outer.y);
    const covered = hit && hit !== frameElement && !isWithin(frameElement, hit) ? eyes.describe(hit) : "";
    return { ...outer, covered };
  };
  eyes.outward = (reference, x, y) => {
    const node = eyes.find(reference);
    if (!node) return null;
    let shifted = shift(node, x, y);
    const inner = dom.ownerDocument(node).defaultView;
    if (shifted.x < 0 || shifted.y < 0 || shifted.x > inner.innerWidth || shifted.y > inner.innerHeight) {
      inner.scrollBy({ left: shifted.x < 0 || shifted.x > inner.innerWidth ? shifted.x - inner.innerWidth / 2 : 0,
        top: shifted.y - inner.innerHeight / 2, behavior: "instant" });
      shifted = shift(node, x, y);
    }
    let view = dom.ownerDocument(node).defaultView;
    let result = shifted;
    while (view !== window && view.frameElement) {
      const next = shift(view.frameElement, result.x, result.y);
      result = { x: next.x, y: next.y, covered: result.covered || next.covered };
      view = view.parent;
    }
    return { ...result, covered: result.covered || null };
  };

  // The document as HTML, with the content of shadow roots and same-origin frames in its place. A frame that scripts
  // cannot enter becomes a section that carries its reference, to be filled in by who asks.
  let frames = [];
  eyes.html = (isFrame = false) => {
    frames = [];
    const root = document.documentElement;
    // Scripts may take everything out of a document.
    if (!root) return { html: "", frames };
    const isWhole = !isFrame && ![...root.querySelectorAll("*")].some((one) => eyes.knownRoot(one) || holdsDocument(one));
    const html = isWhole ? dom.outerHTML(root) : flattened(root).outerHTML;
    return { html: isFrame ? html.replace(/<title[^]*?<\/title>/i, "") : html, frames };
  };
  const holdsDocument = (node) =>
    /^i?frame$/.test(dom.localName(node)) || (/^(embed|object)$/.test(dom.localName(node)) && showsPdf(node));
  // Whether a plug-in's element shows a PDF, as far as its attributes say.
  const showsPdf = (node) =>
    node.type === "application/pdf" || /\.pdf($|[?#])/i.test(node.src || node.data || "");
  const isHere = (node) => dom.ownerDocument(node) === document && window === window.top;
  const flattened = (node) => {
    if (dom.nodeType(node) !== 1) return dom.cloneNode(node, false);
    let copy = dom.cloneNode(node, false);
    let children = dom.childNodes(eyes.knownRoot(node) || node);
    if (dom.localName(node) === "slot" && node.assignedNodes) {
      const assigned = node.assignedNodes({ flatten: true });
      if (assigned.length) children = assigned;
    }
    // What a frame's addresses are relative to is lost with the frame.
    if (!isHere(node)) {
      if (dom.localName(node) === "a" && dom.hasAttribute(node, "href")) copy.setAttribute("href", node.href);
      if (dom.localName(node) === "img" && dom.hasAttribute(node, "src")) copy.setAttribute("src", node.src);
    }
    if (holdsDocument(node)) {
      let inner = null;
      try {
        inner = node.contentDocument;
      } catch { /* another origin */ }
      if (node.offsetWidth < 10 || node.offsetHeight < 10) return copy;
      // The viewer of a PDF holds no text; who asks has the file read instead.
      if (inner && inner.contentType === "application/pdf") inner = null;
      copy = document.createElement("section");
      if (!inner) {
        const reference = eyes.publish(node);
        frames.push(reference);
        copy.setAttribute("data-frame-reference", reference);
      }
      children = inner?.body ? inner.body.childNodes : [];
    }
    for (const child of children) dom.append(copy, flattened(child));
    return copy;
  };
}
