// Numbers the elements of a document and returns the lines of the window that is asked for.
// The whole document is read each time, but only those lines are written out.
{
  const { cut } = eyes;
  const records = new WeakMap();
  let byReference = new Map();
  let lastReference = 0;
  let round = 0;
  let found = null;

  const reference = (node) => {
    let record = records.get(node);
    if (!record) records.set(node, (record = { reference: ++lastReference, round: 0 }));
    return record;
  };
  // The first line to show: a little above the one at the top of the viewport.
  const firstInView = (lines) => {
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

  const write = (from, budget) => {
    eyes.beginDescribing(found);
    const { lines } = found;
    const out = [];
    let size = 0;
    let index = from;
    for (; index < lines.length && size < budget; index += 1) {
      const line = lines[index];
      const pad = " ".repeat(line.indent);
      let entry;
      if (line.numbered) {
        const [text, name, role] = eyes.describeElement(line);
        const record = reference(line.element);
        byReference.set(record.reference, line.element);
        entry = [record.reference, round > 1 && record.round < round - 1 ? 1 : 0, pad, text, line.element.localName, role, cut(name, 120)];
        size += text.length + 6;
      } else if (line.element && (line.frame || (line.text === "" && /^i?frame$/.test(line.element.localName)))) {
        const text = eyes.frameLine(line);
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

  const hashAll = (lines) => {
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
    found = eyes.read();
    const { lines } = found;
    let total = 0;
    for (const line of lines) total += line.text.length + (line.numbered ? 30 : 1) + line.indent;
    let from = 0;
    if (total > budget && !inFrame) {
      from = firstInView(lines);
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
      hash: hashAll(lines),
      mutations: eyes.count(),
      loading: document.readyState === "loading",
      modal: found.hasModal,
    });
  };

  // More lines of the document as it was read last.
  eyes.more = (from, budget) => {
    if (!found) found = eyes.read();
    const [out, end] = write(from, budget);
    return JSON.stringify({ from, end, total: found.lines.length, lines: out });
  };

  // The element of a reference, null when it has left its document.
  eyes.find = (number) => {
    const node = byReference.get(number);
    return node && node.isConnected ? node : null;
  };
}
