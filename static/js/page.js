// What every page does beyond its HTML: clocks that run, buttons that copy, pictures that open, Ctrl+Enter that sends.

const reader = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function sayClock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${two(minutes)}:${two(whole % 60)}`;
}

function sayAgo(moment) {
  const seconds = (Date.now() - moment) / 1000;
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return null;
}

function tick() {
  for (const clock of document.querySelectorAll("[data-clock]")) {
    clock.textContent = sayClock((Date.now() - Date.parse(clock.dataset.clock)) / 1000);
  }
  for (const time of document.querySelectorAll("[data-ago]")) {
    const moment = Date.parse(time.dateTime);
    const said = sayAgo(moment);
    if (said && time.textContent !== said) time.textContent = said;
    if (!time.dataset.local) {
      time.dataset.local = "yes";
      time.title = reader.format(moment);
    }
  }
}

function textToCopy(button) {
  const source = button.dataset.copy ? document.querySelector(button.dataset.copy) : button.previousElementSibling;
  return source.textContent;
}

async function copy(button) {
  const text = textToCopy(button);
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
  } else {
    // Without HTTPS browsers have no clipboard API.
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

function showCopyButtons(root) {
  for (const button of root.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
}

function openPicture(link) {
  const dialog = document.getElementById("picture");
  const image = dialog.querySelector("img");
  image.src = link.href;
  image.alt = link.getAttribute("aria-label") ?? "";
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
  const link = event.target.closest("a[data-picture]");
  if (link && !event.ctrlKey && !event.metaKey && document.getElementById("picture")) {
    event.preventDefault();
    openPicture(link);
  }
  if (event.target.matches("dialog")) event.target.close();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("[data-submit]")) {
    event.target.form.requestSubmit();
  }
});

showCopyButtons(document);
document.addEventListener("htmx:after:swap", () => { showCopyButtons(document); tick(); });

// What is told of a value opens over the answer, and closes back to that value.
const told = document.getElementById("source-told");
if (told) {
  new MutationObserver(() => {
    if (!told.hasChildNodes() || told.parentElement.open) return;
    told.parentElement.showModal();
    told.scrollTop = 0;
  }).observe(told, { childList: true });
}
tick();
setInterval(tick, 1000);

// A form is sent once: stopping, for one, takes a moment.
document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (button && event.target.method !== "dialog" && !event.defaultPrevented) setTimeout(() => { button.disabled = true; });
});
window.addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("form button:disabled")) button.disabled = false;
});
