// Behaves towards a page as Google's script does: frame, hidden field, object of functions, configuration of clients.
(() => {
  const own = document.currentScript.src;
  const isEnterprise = own.includes('enterprise.js');
  const render = new URL(own).searchParams.get('render');
  const clients = {};
  window.___grecaptcha_cfg = { clients, count: 0 };
  const frame = (key, more) => {
    const one = document.createElement('iframe');
    one.title = 'reCAPTCHA';
    one.src = `{{HOST2}}/recaptcha/${isEnterprise ? 'enterprise' : 'api2'}/anchor?ar=1&k=${key}&co=aHR0&${more}`;
    return one;
  };
  const api = {
    ready: (then) => then(),
    getResponse: () => '',
    execute: (key) => (typeof key === 'string' ? Promise.resolve('a token of a machine') : undefined),
    render: (box, given) => {
      const holder = typeof box === 'string' ? document.getElementById(box) : box;
      const id = Object.keys(clients).length;
      const size = given.size || 'normal';
      clients[id] = { id, T: { a: holder, F: { ...given, size } }, self: null };
      clients[id].self = clients[id];
      const field = document.createElement('textarea');
      field.id = field.name = id ? `g-recaptcha-response-${id}` : 'g-recaptcha-response';
      field.style.display = 'none';
      const place = /^(button|input)$/i.test(holder.tagName) ? document.body : holder;
      place.append(frame(given.sitekey, `size=${size}${given.s ? `&s=${given.s}` : ''}${given.action ? `&sa=${given.action}` : ''}`), field);
      return id;
    },
  };
  window.grecaptcha = isEnterprise ? { enterprise: api, ready: api.ready } : api;
  if (render && render !== 'explicit') {
    const badge = document.createElement('div');
    badge.className = 'grecaptcha-badge';
    const field = document.createElement('textarea');
    field.id = 'g-recaptcha-response-100000';
    field.name = 'g-recaptcha-response';
    field.style.display = 'none';
    badge.append(frame(render, 'size=invisible'), field);
    document.body.append(badge);
    return;
  }
  for (const box of document.querySelectorAll('.g-recaptcha')) {
    const { sitekey, callback, size, action, s } = box.dataset;
    if (sitekey) api.render(box, { sitekey, callback: callback && ((token) => window[callback](token)), size: size || (box.tagName === 'BUTTON' ? 'invisible' : 'normal'), action, s });
  }
  window.onGoogle?.();
})();
