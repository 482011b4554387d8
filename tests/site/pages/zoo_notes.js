// What the pages of the zoo keep about what really happened to them: the last note is shown at the end of each document,
// and every note is sent to the site, so that frames, closed pages and other tabs tell too. `visit` in the address keeps
// runs apart.
const visit = new URLSearchParams(location.search).get('visit');
function note(what, event) {
  const said = event && !event.isTrusted ? `${what} (not by hand)` : what;
  navigator.sendBeacon(`{{HOST1}}/zoo_noted.txt?visit=${visit}`, JSON.stringify({ at: performance.timeOrigin + performance.now(), said }));
  if (!document.body || 'quiet' in document.documentElement.dataset) return;
  const line = document.getElementById('noted') ?? document.body.appendChild(document.createElement('p'));
  line.id = 'noted';
  line.textContent = `Noted: ${said}`;
}
function frame(host, page) {
  document.write(`<iframe src="${host}/${page}?visit=${visit}" width="560" height="420"></iframe>`);
}
