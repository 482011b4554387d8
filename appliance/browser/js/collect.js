// Numbers the elements of a document and returns the lines that are to be shown of it: first of all what is in view.
// The whole document is read each time, but only those lines are written out.
{
  const { cut, dom } = eyes;
  const records = new WeakMap();
  // Weak, so that what the page has thrown away is not kept: a number stays good as long as its element lives.
  const byReference = new Map();
  let lastReference = 0;
  let round = 0;
  let prunedAt = 4000;

  const reference = (node) => {
    let record = records.get(node);
    if (!record) records.set(node, (record = { reference: ++lastReference, round: 0, since: 0, known: false, was: null }));
    return record;
  };
  // Takes note that an element was there in this observation; new is one that was not there in the one before.
  const see = (record) => {
    if (record.round === round) return;
    if (record.round < round - 1) record.since = round;
    record.round = round;
  };
  // What is written out can be asked for by its reference later.
  const publish = (node) => {
    const record = reference(node);
    if (!record.known) {
      record.known = true;
      byReference.set(record.reference, new WeakRef(node));
    }
    return record;
  };
  const prune = () => {
    if (byReference.size < prunedAt) return;
    for (const [number, weak] of byReference) if (!weak.deref()) byReference.delete(number);
    prunedAt = Math.max(4000, 2 * byReference.size);
  };
  // In a document that is too long to be shown whole, no line may take the room of all others.
  const LONGEST_LINE = 2000;

  const entryOf = (line) => {
    const pad = " ".repeat(line.indent);
    if (line.numbered) {
      const [text, name, role, cover] = eyes.describeElement(line);
      const record = publish(line.element);
      record.was = eyes.identity(line.element, line.container, cover, eyes.labelsMet(line.element));
      see(record);
      return [record.reference, round > 1 && record.since === round ? 1 : 0, pad, text, dom.localName(line.element), role, cut(name, 120)];
    }
    if (line.frame || (line.text === "" && /^i?frame$/.test(dom.localName(line.element)))) {
      const record = line.frame ? publish(line.element) : null;
      return [record ? -record.reference : 0, 0, pad, eyes.frameLine(line)];
    }
    return [0, 0, pad, line.text];
  };
  const sizeOf = (entry) => entry[2].length + entry[3].length + (entry[0] > 0 ? 7 : 1);

  // The lines to show, by number: those from number `from` on; or, where that is negative, all that is in view as far
  // as `viewBudget` goes, and around it what `budget` leaves room for.
  const choose = ({ lines, top }, budget, viewBudget, from) => {
    let total = 0;
    for (const line of lines) total += line.text.length + (line.numbered ? 30 : 1) + line.indent;
    const isLong = total > budget;
    const chosen = new Map();
    let size = 0;
    const take = (index, limit) => {
      if (size >= limit || index < 0 || index >= lines.length) return false;
      if (!chosen.has(index)) {
        const entry = entryOf(lines[index]);
        if (isLong) entry[3] = cut(entry[3], LONGEST_LINE);
        chosen.set(index, entry);
        size += sizeOf(entry);
      }
      return true;
    };
    if (from >= 0) {
      for (let index = Math.min(from, lines.length - 1); take(index, budget); ) index += 1;
      return chosen;
    }
    const inView = isLong ? eyes.linesInView(lines, top) : [];
    for (const { index } of inView) if (!take(index, viewBudget)) break;
    const inFlow = inView.filter(({ layer }) => layer === 0);
    const middle = inFlow.length ? inFlow[inFlow.length >> 1].index : 0;
    const littleAbove = Math.min(budget, size + budget / 8);
    for (let index = middle; take(index, littleAbove); ) index -= 1;
    for (let index = middle; take(index, budget); ) index += 1;
    for (let index = middle; take(index, budget); ) index -= 1;
    return chosen;
  };

  const parentOf = (element) => dom.parentElement(element) || dom.getRootNode(element).host;
  // The chosen lines in the order of the document; before the first one of an area that scrolls, one that says so.
  const inOrder = (lines, chosen) => {
    const places = [];
    const entries = [];
    const known = new Map();
    let current = null;
    for (const index of [...chosen.keys()].sort((one, other) => one - other)) {
      const line = lines[index];
      const area = eyes.scrollAreaOf(line.numbered && !line.container ? parentOf(line.element) : line.element, known);
      if (area && area !== current && !dom.contains(area, current)) {
        // Numbered, as an area without any control can be scrolled too.
        places.push(index);
        entries.push([publish(area).reference, 0, " ".repeat(line.indent), eyes.scrollWords(area), dom.localName(area), "", ""]);
      }
      current = area;
      places.push(index);
      entries.push(chosen.get(index));
    }
    return { places, entries };
  };

  const hashAll = (lines) => {
    let hash = 5381;
    for (const line of lines) {
      const text = line.text;
      hash = (hash * 33 + text.length + (line.numbered ? 7 : 0)) | 0;
      for (let at = 0; at < text.length; at += 1) hash = (hash * 33 + text.charCodeAt(at)) | 0;
    }
    return hash >>> 0;
  };

  // Reads the document and returns, as JSON, what of its lines is to be shown: each with its place among all lines.
  // `again`: in the same observation as the time before.
  eyes.collect = (budget, viewBudget, from, again) => {
    if (!again) round += 1;
    prune();
    const found = eyes.read();
    const { lines } = found;
    eyes.beginDescribing(found);
    const chosen = choose(found, budget, viewBudget, from);
    const { places, entries } = inOrder(lines, chosen);
    const frames = [];
    for (let index = 0; index < lines.length; index += 1) {
      const line = lines[index];
      // Every numbered element of the document was seen now, also those not written out.
      if (line.numbered) see(reference(line.element));
      else if (line.frame) frames.push([publish(line.element).reference, index]);
    }
    const page = document.scrollingElement || document.documentElement;
    return JSON.stringify({
      url: location.href,
      title: document.title,
      above: Math.round(scrollY),
      below: Math.max(0, Math.round((page?.scrollHeight || 0) - innerHeight - scrollY)),
      total: lines.length,
      places,
      lines: entries,
      frames,
      hash: hashAll(lines),
      mutations: eyes.count(),
      loading: document.readyState === "loading",
      modal: found.hasModal,
      suspects: eyes.suspects().length,
      roots: eyes.rootsRead().length,
    });
  };

  // The element of a reference, null when it has left its document.
  eyes.find = (number) => {
    const node = byReference.get(number)?.deref();
    return node && dom.isConnected(node) && dom.ownerDocument(node).defaultView ? node : null;
  };
  // The reference of an element that was found in another way than by reading.
  eyes.refer = (node) => publish(node).reference;
  eyes.publish = (node) => publish(node).reference;
  // What an element was when it was last written out, null when it never was.
  eyes.past = (node) => records.get(node)?.was || null;
}
