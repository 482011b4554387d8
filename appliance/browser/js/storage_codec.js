// Turns what a page keeps in IndexedDB into JSON and back, as Playwright writes it, with Map, Set, Blob and File beside.
// Evaluates to { encode, decode }: encode throws on what cannot leave the browser, as a key that must not be exported.
(() => {
  const KINDS = {
    i8: Int8Array, ui8: Uint8Array, ui8c: Uint8ClampedArray, i16: Int16Array, ui16: Uint16Array, i32: Int32Array,
    ui32: Uint32Array, f32: Float32Array, f64: Float64Array, bi64: BigInt64Array, bui64: BigUint64Array,
  };
  const NUMBERS = { undefined, null: null, NaN, Infinity, "-Infinity": -Infinity, "-0": -0 };
  const tagOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

  const toText = (bytes) => {
    let text = "";
    for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    return btoa(text);
  };
  const toBytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const bytesOf = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

  const encode = async (value, seen = new Map()) => {
    if (value === undefined || value === null) return { v: String(value) };
    if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0) ? value : { v: Object.is(value, -0) ? "-0" : String(value) };
    if (typeof value === "string") {
      if (!value.isWellFormed()) throw new TypeError("text that is no Unicode");
      return value;
    }
    if (typeof value === "boolean") return value;
    if (typeof value === "bigint") return { bi: String(value) };
    if (seen.has(value)) return { ref: seen.get(value) };
    const id = seen.size + 1;
    const kind = tagOf(value);
    if (kind === "Date") return { d: Number.isNaN(value.getTime()) ? "" : value.toJSON() };
    if (kind === "RegExp") return { r: { p: value.source, f: value.flags } };
    if (kind === "Error") return { e: { n: value.name, m: value.message, s: value.stack || "" } };
    if (kind === "ArrayBuffer") return { ab: { b: toText(new Uint8Array(value)) } };
    for (const [name, Kind] of Object.entries(KINDS)) {
      if (kind === Kind.name) return { ta: { b: toText(bytesOf(value)), k: name } };
    }
    if (kind === "DataView") return { dv: { b: toText(bytesOf(value)) } };
    if (kind === "Blob" || kind === "File") {
      const b = toText(new Uint8Array(await value.arrayBuffer()));
      return { bl: kind === "File" ? { b, t: value.type, n: value.name, m: value.lastModified } : { b, t: value.type } };
    }
    seen.set(value, id);
    const all = async (items) => {
      const done = [];
      for (const item of items) done.push(await encode(item, seen));
      return done;
    };
    if (Array.isArray(value)) return { a: await all(value), id };
    if (kind === "Map") return { mp: await all([...value].flat()), id };
    if (kind === "Set") return { st: await all(value), id };
    if (kind !== "Object") throw new TypeError(kind);
    const entries = [];
    for (const name of Object.keys(value)) entries.push({ k: name, v: await encode(value[name], seen) });
    return { o: entries, id };
  };

  const decode = (coded, seen = new Map()) => {
    if (typeof coded !== "object" || coded === null) return coded;
    if ("v" in coded) return NUMBERS[coded.v];
    if ("ref" in coded) return seen.get(coded.ref);
    if ("bi" in coded) return BigInt(coded.bi);
    if ("d" in coded) return new Date(coded.d || NaN);
    if ("r" in coded) return new RegExp(coded.r.p, coded.r.f);
    if ("u" in coded) return String(coded.u);
    if ("e" in coded) return Object.assign(new Error(coded.e.m), { name: coded.e.n, stack: coded.e.s });
    if ("ab" in coded) return toBytes(coded.ab.b).buffer;
    if ("ta" in coded) return new KINDS[coded.ta.k](toBytes(coded.ta.b).buffer);
    if ("dv" in coded) return new DataView(toBytes(coded.dv.b).buffer);
    if ("bl" in coded) {
      const { b, t, n, m } = coded.bl;
      return n === undefined ? new Blob([toBytes(b)], { type: t }) : new File([toBytes(b)], n, { type: t, lastModified: m });
    }
    const keep = (made) => (seen.set(coded.id, made), made);
    if ("a" in coded) {
      const made = keep([]);
      for (const item of coded.a) made.push(decode(item, seen));
      return made;
    }
    if ("mp" in coded) {
      const made = keep(new Map());
      for (let at = 0; at < coded.mp.length; at += 2) made.set(decode(coded.mp[at], seen), decode(coded.mp[at + 1], seen));
      return made;
    }
    if ("st" in coded) {
      const made = keep(new Set());
      for (const item of coded.st) made.add(decode(item, seen));
      return made;
    }
    if (!("o" in coded)) throw new TypeError("a value of an unknown kind");
    const made = keep({});
    for (const { k, v } of coded.o) Object.defineProperty(made, k, { value: decode(v, seen), enumerable: true, configurable: true, writable: true });
    return made;
  };

  // A value that JSON holds as it is needs no code.
  const isPlain = (value) => {
    if (value === null || typeof value === "boolean") return true;
    if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
    if (typeof value === "string") return value.isWellFormed();
    if (Array.isArray(value)) return Object.keys(value).length === value.length && value.every(isPlain);
    return typeof value === "object" && tagOf(value) === "Object" && Object.values(value).every(isPlain);
  };
  return { encode, decode, isPlain };
})()
