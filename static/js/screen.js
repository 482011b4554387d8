// Shows the display of the session while there is one: connects, scales, says what it waits for, and stops at the end.

import RFB from "../vendor/novnc/core/rfb.js";
import { initLogging } from "../vendor/novnc/core/util/logging.js";

// The page itself says how the view is; a run that ends while its view connects is no error to complain of.
initLogging("none");

const screen = document.getElementById("screen");
const stage = document.getElementById("stage");
const words = document.getElementById("cover-text");
const full = document.getElementById("full");
const firstPause = 500;
const longestPause = 10000;
let rfb = null;
let pause = firstPause;
let timer = 0;

const facts = () => document.getElementById("facts");
const phase = () => facts()?.dataset.phase ?? "ended";
const isOver = () => phase() === "ended" || phase() === "resting";

function show(state, text) {
  screen.dataset.state = state;
  words.textContent = text;
}

function showEnd() {
  const picture = facts()?.dataset.picture;
  if (picture && !stage.querySelector(".last-picture")) {
    const image = new Image();
    image.className = "last-picture";
    image.alt = "The last picture of the agent's browser";
    image.src = picture;
    stage.replaceChildren(image);
  }
  show("ended", picture ? "The last picture" : "No picture was taken");
}

function connect() {
  clearTimeout(timer);
  if (rfb || isOver()) return;
  const waits = phase() === "waiting";
  show(waits ? "waiting" : "connecting", waits ? "Waiting for a free slot" : "Connecting to the browser…");
  stage.replaceChildren();
  const address = new URL(screen.dataset.socket, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  rfb = new RFB(stage, address.href, { shared: true });
  rfb.viewOnly = true;
  rfb.scaleViewport = true;
  rfb.focusOnClick = false;
  rfb.background = "transparent";
  rfb.qualityLevel = 7;
  rfb.addEventListener("connect", () => {
    if (isOver()) {
      rfb.disconnect();
      return;
    }
    pause = firstPause;
    show("live", "Live");
    full.hidden = !document.fullscreenEnabled;
  });
  rfb.addEventListener("disconnect", () => {
    rfb = null;
    if (isOver()) {
      showEnd();
      return;
    }
    show("connecting", "Connecting to the browser…");
    timer = setTimeout(connect, pause);
    pause = Math.min(pause * 2, longestPause);
  });
}

function follow() {
  if (isOver()) {
    clearTimeout(timer);
    // One that still connects is left to the server, which closes it: closed from here, it is an error in the console.
    if (screen.dataset.state === "live") rfb?.disconnect();
    else if (screen.dataset.state !== "ended") showEnd();
  } else if (rfb && screen.dataset.state !== "live") {
    const waits = phase() === "waiting";
    show(waits ? "waiting" : "connecting", waits ? "Waiting for a free slot" : "Connecting to the browser…");
  } else if (!rfb) {
    pause = firstPause;
    connect();
  }
}

full.addEventListener("click", () => {
  if (document.fullscreenElement) document.exitFullscreen();
  else screen.requestFullscreen();
});

document.addEventListener("htmx:after:swap", follow);
connect();
