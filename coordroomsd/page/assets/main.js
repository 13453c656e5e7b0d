// The start of the page: who looks at it, and which view the address names.

import { Api } from "./api.js";
import { showOverview } from "./overview.js";
import { showRoom } from "./room.js";
import { forgetSession, isSignedIn, onSessionChange, signIn, signOut } from "./session.js";
import { showSignedOut } from "./signed_out.js";
import { bindThemeSwitch } from "./theme_switch.js";

const main = document.getElementById("main");
const where = document.getElementById("where");
const person = document.getElementById("person");
const leave = document.getElementById("leave");
const connection = document.getElementById("connection");

// Calls that were on their way while one signed out are answered by the same refusal, and that is no news.
const api = new Api((refused) => isSignedIn() && signedOut(refused));
let me = null;
// The view that is shown; each new one ends the one before, also while it is still being loaded.
let view = null;
let turn = 0;

/** Views by the path of the address, each with what it needs of it. */
const ROUTES = [
  [/^\/page\/?$/, () => showOverview(main, surroundings())],
  [/^\/page\/rooms\/([^/]+)(?:\/(\d+))?\/?$/, (room, seq) => openRoom(room, seq)],
  [/^\/page\/conversations\/([^/]+)(?:\/(\d+))?\/?$/, (room, seq) => openRoom(room, seq)],
];

function openRoom(room, seq) {
  return showRoom(main, { room: decodeURIComponent(room), seq: seq ? Number(seq) : null, ...surroundings() });
}

function surroundings() {
  return { api, me, connection, go: navigate };
}

/** Go to an address of the page's own without loading it anew. */
function navigate(path, { replace = false } = {}) {
  if (replace) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  show({ focus: true });
}

async function show({ focus = false } = {}) {
  const mine = (turn += 1);
  view?.close();
  view = null;
  where.replaceChildren();
  connection.replaceChildren();
  main.replaceChildren();
  if (!isSignedIn()) {
    signedOut(null);
    return;
  }
  const found = ROUTES.map(([pattern, open]) => [pattern.exec(location.pathname), open]).find(([match]) => match);
  try {
    me ??= await api.call("GET", "/me");
    if (mine !== turn) return;
    person.textContent = me.participant.name;
    person.hidden = leave.hidden = false;
    if (!found) {
      document.title = "Not found";
      main.append(notice("There is no such page.", "Go to the rooms by the link at the top."));
      return;
    }
    const [match, open] = found;
    const opened = await open(...match.slice(1));
    if (mine === turn) view = opened;
    else opened?.close();
  } catch (error) {
    if (mine !== turn || error.status === 401) return;
    main.replaceChildren(notice(error.detail ?? error.message, error.recovery ?? ""));
    if (error.code === "away") setTimeout(() => mine === turn && show(), 2_000);
  }
  if (focus && mine === turn) main.focus({ preventScroll: true });
}

function signedOut(refused) {
  turn += 1;
  view?.close();
  view = me = null;
  forgetSession();
  person.hidden = leave.hidden = true;
  where.replaceChildren();
  connection.replaceChildren();
  showSignedOut(main, refused);
}

function notice(...sentences) {
  const node = document.createElement("p");
  node.className = "notice";
  node.textContent = sentences.join(" ").trim();
  return node;
}

/** A one-time link: its code is behind the #, which no server is sent and no log shows. */
async function open() {
  const code = location.hash.slice(1);
  history.replaceState(null, "", "/page/");
  try {
    await signIn(api, code);
  } catch (error) {
    if (!isSignedIn()) {
      showSignedOut(main, error);
      return;
    }
  }
  show();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || event.defaultPrevented || link.target || link.origin !== location.origin) return;
  if (!link.pathname.startsWith("/page/") || link.hash) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
});
addEventListener("popstate", () => show({ focus: true }));
leave.addEventListener("click", async () => {
  turn += 1;
  view?.close();
  view = null;
  try {
    await signOut(api);
  } catch {
    // Whether or not the daemon heard it, this browser has no key any more.
  }
  signedOut({ detail: "You signed out." });
});
onSessionChange(() => {
  me = null;
  show();
});
bindThemeSwitch(document.getElementById("theme"));

if (location.pathname === "/page/open") open();
else show();
