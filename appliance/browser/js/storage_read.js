// Reads what the origin of this document keeps, as JSON: { origin, local, session, databases, left }. Runs in the isolated
// world of a page, or in a blank document. `most` is the number of characters that databases may have; with more
// they are null. `left` says what could not be taken along.
async (most) => {
  const codec = CODEC;
  const left = [];
  const entries = (storage) => {
    const found = {};
    let odd = 0;
    for (let at = 0; at < storage.length; at++) {
      const name = storage.key(at);
      const value = storage.getItem(name);
      if (value === null) continue;
      if (name.isWellFormed() && value.isWellFormed()) Object.defineProperty(found, name, { value, enumerable: true });
      else odd++;
    }
    if (odd) left.push(`${odd} entries whose text is no Unicode`);
    return found;
  };
  const settled = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const open = (name) => new Promise((resolve, reject) => {
    const request = indexedDB.open(name);
    // Deleted since it was listed: it must not come to be again.
    request.onupgradeneeded = () => request.transaction.abort();
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => (request.error.name === "AbortError" ? resolve(null) : reject(request.error));
  });
  // It is taken for circular when isPlain runs out of stack.
  const isPlain = (value) => {
    try {
      return codec.isPlain(value);
    } catch (error) {
      return false;
    }
  };
  const put = async (record, field, value) => {
    if (isPlain(value)) record[field] = value;
    else record[`${field}Encoded`] = await codec.encode(value);
  };
  const pathOf = (path) => (Array.isArray(path) ? { keyPathArray: path } : path === null ? {} : { keyPath: path });
  const readStore = async (store) => {
    const [keys, values] = await Promise.all([settled(store.getAllKeys()), settled(store.getAll())]);
    return { store, keys, values };
  };
  let size = 0;
  const tooLarge = new RangeError(`databases of more than ${most} characters`);
  const describe = async ({ store, keys, values }, shape) => {
    const lost = {};
    for (let at = 0; at < keys.length; at++) {
      const record = {};
      try {
        if (store.keyPath === null) await put(record, "key", keys[at]);
        await put(record, "value", values[at]);
      } catch (error) {
        lost[error.message] = (lost[error.message] || 0) + 1;
        continue;
      }
      size += JSON.stringify(record).length;
      if (size > most) throw tooLarge;
      shape.records.push(record);
    }
    for (const [what, count] of Object.entries(lost)) left.push(`${count} records with ${what}`);
    return shape;
  };
  const readDatabase = async (name) => {
    const database = await open(name);
    if (database === null) return null;
    database.onversionchange = () => database.close();
    try {
      const names = [...database.objectStoreNames];
      const found = { name, version: database.version, stores: [] };
      if (!names.length) return found;
      const transaction = database.transaction(names, "readonly");
      const shapes = names.map((storeName) => {
        const store = transaction.objectStore(storeName);
        const indexes = [...store.indexNames].map((indexName) => {
          const index = store.index(indexName);
          return { name: indexName, ...pathOf(index.keyPath), multiEntry: index.multiEntry, unique: index.unique };
        });
        return { name: storeName, autoIncrement: store.autoIncrement, ...pathOf(store.keyPath), records: [], indexes };
      });
      const contents = await Promise.all(names.map((storeName) => readStore(transaction.objectStore(storeName))));
      for (let at = 0; at < names.length; at++) found.stores.push(await describe(contents[at], shapes[at]));
      return found;
    } finally {
      database.close();
    }
  };
  const answer = { origin: self.origin, local: entries(localStorage), session: entries(sessionStorage), databases: [], left };
  for (const { name } of await indexedDB.databases()) {
    if (!name.isWellFormed()) {
      left.push("a database whose name is no Unicode");
      continue;
    }
    try {
      const found = await readDatabase(name);
      if (found !== null) answer.databases.push(found);
    } catch (error) {
      if (error !== tooLarge) throw error;
      left.push(tooLarge.message);
      answer.databases = null;
      break;
    }
  }
  return JSON.stringify(answer);
}
