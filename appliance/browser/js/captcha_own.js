// Reads what a page's scripts know of their captcha, and does what the captcha's own script would do once it is solved.
// Evaluates to an object of functions; runs among the page's own scripts, once, and leaves nothing behind but the answer.
(() => {
  const DEEPEST = 6, MOST = 3000, LONGEST = 4000;

  const find = (path) => {
    let holder = null;
    let value = window;
    for (const name of path) {
      if (value === null || value === undefined) return { holder: null, value: undefined };
      holder = value;
      value = value[name];
    }
    return { holder, value };
  };

  // A value as JSON; a function in it becomes the path that leads to it.
  const told = (value, path, state) => {
    if (typeof value === 'function') return { function: path };
    if (typeof value === 'string') return value.slice(0, LONGEST);
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
    if (typeof value !== 'object' || value instanceof Node || value.window === value) return null;
    if (path.length - state.start > DEEPEST || state.seen.has(value) || (state.left -= 1) < 0) return null;
    state.seen.add(value);
    const found = {};
    for (const name of Object.keys(value).slice(0, 100)) {
      const slot = Object.getOwnPropertyDescriptor(value, name);
      if (slot && 'value' in slot) found[name] = told(slot.value, [...path, name], state);
    }
    return found;
  };

  const holdersOf = (method) => Object.getOwnPropertyNames(window).filter((name) => {
    const slot = Object.getOwnPropertyDescriptor(window, name);
    const value = slot && 'value' in slot ? slot.value : null;
    if (!value || typeof value !== 'object' || value === window || value instanceof Node) return false;
    try { return typeof value[method] === 'function'; } catch { return false; }
  });

  // The functions that an object calls on success: those it keeps under that word, however it names what holds them.
  const listenersOf = (value, depth, seen) => {
    if (!value || typeof value !== 'object' || value instanceof Node || seen.has(value) || depth > 4) return [];
    seen.add(value);
    return Object.entries(value).flatMap(([name, inner]) => {
      if (/^(on)?success$/i.test(name)) {
        const functions = [inner].flat().filter((one) => typeof one === 'function');
        if (functions.length) return functions;
      }
      return listenersOf(inner, depth + 1, seen);
    });
  };

  // The functions for success that a React component around the widget was given together with its key.
  const HANDLERS = /^(on)?(success|verify|verified|solved?|change|callback|token)$/i;
  const componentsOf = (selector, key) => {
    for (let node = document.querySelector(selector), steps = 0; node && steps < 8; node = node.parentElement, steps += 1) {
      const name = Object.keys(node).find((one) => /^__react(Fiber|InternalInstance)\$/.test(one));
      for (let fiber = name && node[name], up = 0; fiber && up < 40; fiber = fiber.return, up += 1) {
        const props = fiber.memoizedProps;
        if (!props || typeof props !== 'object' || !Object.values(props).includes(key)) continue;
        const found = Object.entries(props).filter(([one, value]) => HANDLERS.test(one) && typeof value === 'function');
        if (found.length) return found;
      }
    }
    return [];
  };

  const attempt = (action) => {
    try { action(); } catch (error) { return String((error && error.message) || error).slice(0, 200); }
    return '';
  };

  return {
    read: (_, names, methods) => {
      const values = {};
      for (const name of names) {
        const path = name.split('.');
        const { value } = find(path);
        if (value !== undefined) values[name] = told(value, path, { start: path.length, seen: new Set(), left: MOST });
      }
      return { values, objects: Object.fromEntries(methods.map((one) => [one, holdersOf(one)])) };
    },

    // Returns which functions answer now, which were called, and what went wrong in one of them.
    redeem: (_, overrides, calls, succeeds, component) => {
      const done = { answering: [], called: [], errors: [] };
      for (const { path, value, promise } of overrides) {
        const found = find(path);
        if (typeof found.value !== 'function') continue;
        const once = () => {
          found.holder[path.at(-1)] = found.value;
          return Promise.resolve(value);
        };
        found.holder[path.at(-1)] = promise ? once : () => value;
        done.answering.push(path.join('.'));
      }
      const called = new Set();
      const call = (name, target, holder, given) => {
        if (called.has(target)) return;
        called.add(target);
        const error = attempt(() => target.apply(holder, given));
        if (error) done.errors.push(`${name}: ${error}`);
        done.called.push(name);
      };
      for (const { path, given } of calls) {
        const { holder, value } = find(path);
        if (typeof value === 'function') call(path.at(-1), value, holder, given);
      }
      for (const name of succeeds) {
        for (const target of listenersOf(window[name], 0, new Set())) call(`${name} (success)`, target, window[name], []);
      }
      if (component && !called.size) {
        for (const [name, target] of componentsOf(component.selector, component.key)) call(name, target, null, component.given);
      }
      return done;
    },
  };
})()
