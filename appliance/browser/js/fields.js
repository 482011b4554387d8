// Reads and prepares form fields. Evaluates to an object of functions that take the element first. Runs in the
// isolated world, where a page's own patches of value setters do not reach.
(() => {
  const { dom } = eyes;
  const TEXT = /^(text|search|url|tel|email|password|number|)$/;
  const SPECIAL = /^(date|time|month|week|datetime-local|color|range)$/;
  const EDITABLE = 'input:not([type=hidden]):not([type=checkbox]):not([type=radio]):not([type=button]):not([type=submit]),' +
    'textarea,[contenteditable=""],[contenteditable=true],[contenteditable=plaintext-only]';

  const squeeze = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const isShown = (element) =>
    dom.checkVisibility(element, { visibilityProperty: true }) && dom.getClientRects(element).length > 0;

  const inside = (element) => dom.querySelector(element, EDITABLE) ||
    [element, ...dom.querySelectorAll(element, '*')].map((one) => eyes.knownRoot(one)).map((root) => root && inside(root)).find(Boolean) || null;

  // The field that an element stands for: itself, a label's control, the editing host around, the first field inside.
  const fieldOf = (element) => {
    if (dom.matches(element, 'input,textarea,select')) return element;
    if (dom.isContentEditable(element)) {
      let host = element;
      while (dom.parentElement(host) && dom.parentElement(host).isContentEditable) host = dom.parentElement(host);
      return host;
    }
    if (dom.localName(element) === 'label' && element.control) return element.control;
    return inside(element) || element;
  };

  const kindOf = (field) => {
    if (dom.localName(field) === 'select') return 'select';
    if (dom.localName(field) === 'textarea') return 'multiline';
    if (dom.localName(field) === 'input') {
      if (field.type === 'file') return 'file';
      if (/^(checkbox|radio)$/.test(field.type)) return 'toggle';
      if (SPECIAL.test(field.type)) return 'special';
      return TEXT.test(field.type) ? 'line' : 'none';
    }
    return dom.isContentEditable(field) ? 'rich' : 'none';
  };

  const isActive = (field) => {
    const root = dom.getRootNode(field);
    const active = root.activeElement;
    return active === field || (dom.isContentEditable(field) && !!active && (dom.contains(field, active) || dom.contains(active, field)));
  };

  const textOf = (field) => (dom.isContentEditable(field) ? dom.innerText(field).replace(/\n$/, '') : field.value);

  // What each field held before it was filled.
  const former = (globalThis.pilothouseFormer ??= new WeakMap());
  const bare = (text) => text.replace(/[^\p{L}\p{N}]/gu, '');

  const prepare = (element) => {
    const field = fieldOf(element);
    const kind = kindOf(field);
    former.set(field, textOf(field) || '');
    return {
      kind, type: field.type || '',
      disabled: dom.matches(field, ':disabled') || dom.getAttribute(field, 'aria-disabled') === 'true',
      readonly: !!field.readOnly || dom.getAttribute(field, 'aria-readonly') === 'true',
      focused: isActive(field),
      length: kind === 'none' ? 0 : (textOf(field) || '').length,
      suggests: dom.hasAttribute(field, 'list') || dom.getAttribute(field, 'role') === 'combobox' ||
        dom.hasAttribute(field, 'aria-autocomplete') || dom.getAttribute(field, 'aria-haspopup') === 'listbox',
    };
  };

  const focus = (element) => {
    const field = fieldOf(element);
    field.focus({ preventScroll: true });
    return isActive(field);
  };

  // Puts the cursor where typing is to happen: over all that is there, or behind it.
  const aim = (element, all) => {
    const field = fieldOf(element);
    if (!isActive(field)) return false;
    if (dom.isContentEditable(field)) {
      const selection = dom.ownerDocument(field).getSelection();
      const range = dom.ownerDocument(field).createRange();
      range.selectNodeContents(field);
      if (!all) range.collapse(false);
      selection.removeAllRanges();
      selection.addRange(range);
    } else if (all) field.select();
    else {
      try { field.setSelectionRange(field.value.length, field.value.length); }
      catch { /* number and email fields have no selection; their cursor is at the end after focus */ }
    }
    return true;
  };

  // From now on the field shows dots, also where it is not one for passwords.
  const conceal = (element) => fieldOf(element).style.setProperty('-webkit-text-security', 'disc', 'important');

  // Whether keys reach no document but those that the field's own page can enter.
  const keepsKeys = (element) => {
    let view = fieldOf(element).ownerDocument.defaultView;
    if (!view) return false;
    try { while (view.parent !== view && view.parent.document) view = view.parent; } catch { /* another origin */ }
    let active = view.document.activeElement;
    while (active) {
      const root = eyes.knownRoot(active);
      if (root && root.activeElement) active = root.activeElement;
      else if (/^(iframe|frame|object|embed|fencedframe)$/.test(dom.localName(active))) {
        let inner = null;
        try { inner = active.contentDocument; } catch { /* another origin */ }
        if (!inner) return false;
        active = inner.activeElement;
      } else return true;
    }
    return true;
  };

  // Enters a text in one piece, without keys that could land elsewhere.
  const put = (element, text, all) => {
    if (!focus(element) || !aim(element, all)) return false;
    return fieldOf(element).ownerDocument.execCommand('insertText', false, text);
  };

  // A password is compared here and never leaves the page.
  const read = (element, expected) => {
    const field = fieldOf(element);
    if (!dom.isConnected(field)) return null;
    const secret = field.type === 'password';
    const value = textOf(field) || '';
    const same = dom.isContentEditable(field) ? squeeze(value) === squeeze(expected)
      : value.replace(/\r\n?/g, '\n') === expected.replace(/\r\n?/g, '\n');
    return {
      secret, same, alike: !!bare(expected) && bare(value) === bare(expected), kept: !same && value === former.get(field), focused: isActive(field), value: secret ? '' : value, length: value.length,
      invalid: field.validationMessage || '', maximum: field.maxLength > 0 ? field.maxLength : 0,
    };
  };

  const setSpecial = (element, value) => {
    const field = fieldOf(element);
    const before = field.value;
    field.focus({ preventScroll: true });
    field.value = value;
    const after = field.value;
    if (after !== before) {
      field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
      field.dispatchEvent(new Event('change', { bubbles: true }));
    }
    return { before, after, minimum: field.min || '', maximum: field.max || '' };
  };

  // The origin of the element's own document, which may be that of a frame.
  const origin = (element) => (dom.ownerDocument(element).defaultView || self).origin;

  return { origin, prepare, focus, aim, read, setSpecial, conceal, put, keepsKeys };
})()
