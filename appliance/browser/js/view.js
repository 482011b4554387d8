// Tells which lines of a document are in view, and which areas they scroll in.
{
  const { dom } = eyes;
  // The box of an element in the viewport of this script's own document.
  const boxOf = (element) => {
    const box = dom.getBoundingClientRect(element);
    if (dom.ownerDocument(element) === document) return box;
    let { left, top, right, bottom } = box;
    for (let view = dom.ownerDocument(element).defaultView; view && view !== window && view.frameElement; view = view.parent) {
      const frame = view.frameElement.getBoundingClientRect();
      left += frame.left;
      right += frame.left;
      top += frame.top;
      bottom += frame.top;
    }
    return { left, top, right, bottom };
  };
  // Text that stands in a long container by itself has no box of its own: where it is, is not known.
  const isInView = (element, box) => {
    const { left, top, right, bottom } = dom.localName(element) === "area" ? eyes.boxesOf(element)[0] : box || boxOf(element);
    return bottom > 0 && top < height && right > 0 && left < width && right > left && bottom - top < 2 * height;
  };
  // The size of the viewport.
  let width = 0, height = 0;
  // On which side a block is so far from what is in view that nothing in it reaches there, if it stays inside; 0: near.
  const sideOf = ({ left, top, right, bottom }) => {
    if (right - left < 1 || bottom - top < 1) return 0;
    return bottom < -height ? -1 : top > 2 * height ? 1 : 0;
  };
  // Finds the sides of a block's inner blocks. Of a long row of neighbours some are measured: what lies between two on
  // one side is there too, and so is what a block far away holds.
  const STRIDE = 8;
  const judge = (row) => {
    const measure = (block) => {
      if (block.box) return;
      block.box = boxOf(block.element);
      block.side = sideOf(block.box);
    };
    for (let at = 0; at < row.length; at += STRIDE) {
      const last = Math.min(at + STRIDE, row.length - 1);
      measure(row[at]);
      measure(row[last]);
      const side = row[at].side === row[last].side ? row[at].side : 0;
      for (let between = at + 1; between < last; between += 1) {
        if (side === 0) measure(row[between]);
        else row[between].side = side;
      }
    }
    for (const block of row) {
      if (block.side === 0 && block.inner.length) judge(block.inner);
      else if (block.side !== 0) spread(block);
    }
  };
  const spread = (block) => {
    for (const inner of block.inner) {
      inner.side = block.side;
      if (inner.inner.length) spread(inner);
    }
  };

  const DIALOGS = "dialog, [role=dialog], [role=alertdialog], [aria-modal=true], [popover]";
  const parentOf = (element) => dom.parentElement(element) || dom.getRootNode(element).host || dom.ownerDocument(element).defaultView?.frameElement;
  // How surely an element lies above the rest of the page: 2 in a dialog, 1 in what keeps its place, else 0.
  const layerOf = (element, known) => {
    if (!element) return 0;
    let layer = known.get(element);
    if (layer !== undefined) return layer;
    layer = dom.matches(element, DIALOGS) ? 2 : layerOf(parentOf(element), known);
    if (layer === 0 && /^(fixed|sticky)$/.test(getComputedStyle(element).position)) layer = 1;
    known.set(element, layer);
    return layer;
  };

  // Boxes are dear: in long documents lines are first judged by the block they stand in. What is drawn outside of its
  // block is known by its style, or found by looking where such things are: along the edges and in the middle.
  const MANY_LINES = 400;
  const PLACES = [[0.5, 0.5], [0.5, 0.03], [0.5, 0.97], [0.03, 0.97], [0.97, 0.97], [0.97, 0.5]];
  // In a very large document each look takes milliseconds: only where banners and dialogs are.
  const VERY_MANY_LINES = 10000;
  const FEW_PLACES = PLACES.slice(0, 3);
  const placedElements = (places) => {
    const found = new Set();
    for (const [x, y] of places) {
      for (let one = document.elementFromPoint(innerWidth * x, innerHeight * y); one; one = dom.parentElement(one)) found.add(one);
    }
    return found;
  };

  // The numbers of the lines in view, those of dialogs first: they may be the last of the document.
  eyes.linesInView = (lines, top) => {
    const known = new Map();
    const seen = [];
    [width, height] = [innerWidth, innerHeight];
    const isLong = lines.length > MANY_LINES;
    const placed = isLong ? placedElements(lines.length > VERY_MANY_LINES ? FEW_PLACES : PLACES) : null;
    if (isLong) judge(top.inner);
    for (let index = 0; index < lines.length; index += 1) {
      const { element, group, floats } = lines[index];
      if (isLong && group.side !== 0 && !floats && !placed.has(element)) continue;
      if (isInView(element, group.element === element ? group.box : null)) seen.push({ index, layer: layerOf(element, known) });
    }
    return seen.sort((one, other) => other.layer - one.layer || one.index - other.index);
  };

  // The innermost area around an element that scrolls by itself, null when only the page does.
  const FIELD = /^(textarea|select|input|iframe|frame)$/;
  const scrolls = (element) => {
    if (FIELD.test(dom.localName(element))) return false;
    const height = dom.clientHeight(element);
    if (height < 20 || dom.scrollHeight(element) <= height + 4) return false;
    const { scrollingElement, body } = dom.ownerDocument(element);
    return element !== scrollingElement && element !== body && /auto|scroll/.test(getComputedStyle(element).overflowY);
  };
  eyes.scrollAreaOf = (element, known) => {
    if (!element) return null;
    let area = known.get(element);
    if (area !== undefined) return area;
    area = scrolls(element) ? element : eyes.scrollAreaOf(dom.parentElement(element) || dom.getRootNode(element).host, known);
    known.set(element, area);
    return area;
  };
  eyes.scrollWords = (area) => {
    const above = Math.round(dom.scrollTop(area));
    const below = Math.max(0, Math.round(dom.scrollHeight(area) - dom.clientHeight(area) - above));
    return `<${dom.localName(area)}>(area that scrolls by itself: ${above} px above, ${below} px below)`;
  };
}
