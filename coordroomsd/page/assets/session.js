// The page's half of a session. The other half is a cookie that scripts cannot read; this one is kept for the origin, port
// included, so that a program at another port, which gets the cookie too, cannot use it.

const KEY = "coordrooms.key";
const HEADER = "Coordrooms-Page";

/** Headers that say that a request is the page's own. */
export function sessionHeaders() {
  return { [HEADER]: localStorage.getItem(KEY) ?? "none" };
}

export function isSignedIn() {
  return localStorage.getItem(KEY) !== null;
}

/** Exchange a one-time code. Throws what `api.call` throws. */
export async function signIn(api, code) {
  const opened = await api.call("POST", "/page/api/session", { body: { code } });
  localStorage.setItem(KEY, opened.key);
}

export async function signOut(api) {
  try {
    await api.call("DELETE", "/page/api/session");
  } finally {
    forgetSession();
  }
}

export function forgetSession() {
  localStorage.removeItem(KEY);
}

/** Run `changed` when another tab signs in or out. */
export function onSessionChange(changed) {
  addEventListener("storage", (event) => {
    if (event.key === KEY || event.key === null) changed();
  });
}
