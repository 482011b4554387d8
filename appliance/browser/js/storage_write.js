// Puts back what an origin kept, before the first script of its page: storages at once; databases are begun now, and what
// the page asks of them waits its turn behind that. Leaves in eyes.restored a promise of what went wrong, null if nothing.
(({ origin, local, session, databases }) => {
  // Only documents that came from the site itself: an empty frame that a page makes has its origin, too.
  if (self.origin !== origin || !/^https?:$/.test(location.protocol)) return;
  const codec = CODEC;
  const pathOf = ({ keyPath, keyPathArray }) => (keyPathArray !== undefined ? keyPathArray : keyPath === undefined ? null : keyPath);
  const valueOf = (record, field) => (`${field}Encoded` in record ? codec.decode(record[`${field}Encoded`]) : record[field]);
  const fill = (database, transaction, shape) => {
    const made = database.createObjectStore(shape.name, { keyPath: pathOf(shape), autoIncrement: !!shape.autoIncrement });
    for (const index of shape.indexes || []) {
      made.createIndex(index.name, pathOf(index), { multiEntry: !!index.multiEntry, unique: !!index.unique });
    }
    for (const record of shape.records || []) {
      const value = valueOf(record, "value");
      if (pathOf(shape) === null) made.put(value, valueOf(record, "key"));
      else made.put(value);
    }
  };
  const begin = ({ name, version, stores }) => new Promise((resolve, reject) => {
    const request = indexedDB.open(name, version);
    request.onupgradeneeded = (event) => {
      if (event.oldVersion) return;
      try {
        for (const shape of stores) fill(request.result, request.transaction, shape);
      } catch (error) {
        request.transaction.abort();
        reject(error);
      }
    };
    request.onsuccess = () => {
      request.result.close();
      resolve(null);
    };
    request.onerror = () => reject(request.error);
  });
  const wordsOf = (error) => String((error && error.name) || error);
  let problem = null;
  for (const [storage, entries] of [["localStorage", local], ["sessionStorage", session]]) {
    try {
      for (const [name, value] of Object.entries(entries)) self[storage].setItem(name, value);
    } catch (error) {
      problem = `${storage} (${wordsOf(error)})`;
    }
  }
  const beginning = databases.map((database) => begin(database).catch((error) => `a database (${wordsOf(error)})`));
  eyes.restored = Promise.all(beginning).then((problems) => problem || problems.find((one) => one !== null) || null);
})(KEPT)
