// Keeps the feed at its newest row unless somebody reads further up; a pill then says how many came since.

const list = document.getElementById("feed");
const scroller = document.getElementById("feed-scroll");
const pill = document.getElementById("pill");
const near = 48;
let unseen = 0;
// What is over is read from its beginning.
let sticks = document.getElementById("facts")?.dataset.phase !== "ended";

// On narrow screens the feed is part of the page, and the page is left where it is.
function scrollsItself() {
  return getComputedStyle(scroller).overflowY === "auto";
}

function isAtEnd() {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < near;
}

function showPill() {
  pill.hidden = unseen === 0;
  pill.textContent = unseen === 1 ? "1 new row" : `${unseen} new rows`;
}

function toEnd() {
  sticks = true;
  unseen = 0;
  showPill();
  if (scrollsItself()) scroller.scrollTop = scroller.scrollHeight;
  else list.lastElementChild?.scrollIntoView({ block: "end" });
}

scroller.addEventListener("scroll", () => {
  sticks = isAtEnd();
  if (sticks && unseen) {
    unseen = 0;
    showPill();
  }
}, { passive: true });

pill.addEventListener("click", toEnd);

new MutationObserver((changes) => {
  if (!scrollsItself()) return;
  if (sticks) {
    scroller.scrollTop = scroller.scrollHeight;
    return;
  }
  const added = changes.filter((change) => change.target === list);
  unseen += added.flatMap((change) => [...change.addedNodes]).filter((node) => node.nodeType === 1).length;
  showPill();
}).observe(list, { childList: true, subtree: true });

// Pausing puts another button in the place of the one that was pressed: who used the keyboard goes on there.
const pausing = document.getElementById("pausing");

pausing?.addEventListener("submit", (event) => {
  const other = [...pausing.querySelectorAll("form")].find((form) => form !== event.target).querySelector("button");
  new MutationObserver((_, watcher) => {
    if (!other.offsetParent) return;
    other.focus();
    watcher.disconnect();
  }).observe(pausing.parentElement, { childList: true, subtree: true, attributes: true });
});

new ResizeObserver(() => { if (sticks && scrollsItself()) scroller.scrollTop = scroller.scrollHeight; }).observe(list);
if (sticks && scrollsItself()) scroller.scrollTop = scroller.scrollHeight;
