// Behaves towards a page as Turnstile's script does: a frame in a closed shadow root, a hidden field beside it.
(() => {
  window.turnstile = {
    getResponse: () => undefined,
    render: (box, given) => {
      const holder = typeof box === 'string' ? document.querySelector(box) : box;
      const inner = document.createElement('div');
      const frame = document.createElement('iframe');
      frame.src = '{{HOST2}}/cdn-cgi/challenge-platform/h/b/turnstile/if/ov2/av0/rcv/a1b2c/0x4AAAAAAATest/light/fbE/new/normal/auto/';
      inner.attachShadow({ mode: 'closed' }).append(frame);
      const field = Object.assign(document.createElement('input'), { type: 'hidden', name: given['response-field-name'] || 'cf-turnstile-response' });
      holder.append(inner, field);
      return 'cf-1';
    },
  };
  for (const box of document.querySelectorAll('.cf-turnstile')) {
    if (box.dataset.sitekey) window.turnstile.render(box, { sitekey: box.dataset.sitekey, 'response-field-name': box.dataset.responseFieldName });
  }
})();
