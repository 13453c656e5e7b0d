// The daemon's calls, as the page makes them.

import { sessionHeaders } from "./session.js";
import { EventReader } from "./event_reader.js";

const BASE = "/api/v1";
// The daemon sends a line every fifteen seconds at least; what is silent for longer is gone, or the computer slept.
const SILENT_FOR_MS = 35_000;
const LOOK_EVERY_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const ATTEMPTS = 4;
// A link that is used up says nothing about a session that there may be.
const SIGN_IN = "/page/api/session";

/** The daemon said no: `code`, `status`, `message` (what happened), `recovery` (what to do), and `problem`, all it said. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `The daemon answered ${status}.`);
    this.name = "Refused";
    this.status = status;
    this.code = problem.code ?? "unknown";
    this.detail = this.message;
    this.recovery = problem.recovery ?? "";
    this.problem = problem;
  }
}

/** The daemon could not be reached, or went away in the midst of an answer. */
export class Away extends Error {
  constructor() {
    super("The daemon cannot be reached.");
    this.name = "Away";
    this.code = "away";
    this.detail = this.message;
    this.recovery = "It is tried again by itself; start it with `coordroomsd serve` if it has ended.";
  }
}

/** `signedOut` is called whenever the daemon does not know the session (any more). */
export class Api {
  constructor(signedOut) {
    this.signedOut = signedOut;
  }

  /**
   * One call; the parsed answer. `path` is what follows /api/v1, or begins with /page/.
   *
   * `as` acts as `<name>/<anything>`. What is safe to repeat (reading, or with an idempotency `key`) is tried again while the
   * daemon restarts. Throws Refused, Away, or the AbortError of `signal`.
   */
  async call(method, path, { body, key, as, query, signal } = {}) {
    const again = method === "GET" || key !== undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(method, path, { body, key, as, query, signal });
      } catch (error) {
        const passing = error instanceof Away || error.code === "store_unavailable";
        if (!passing || !again || attempt === ATTEMPTS) throw error;
        await pause(FIRST_PAUSE_MS * 2 ** attempt, signal);
      }
    }
  }

  async #once(method, path, { body, key, as, query, signal }) {
    const response = await this.open(method, path, { body, key, as, query, signal });
    try {
      return await response.json();
    } catch (error) {
      throw error.name === "AbortError" ? error : new Away();
    }
  }

  /** The response of a call that was accepted. Throws as `call` does. */
  async open(method, path, { body, key, as, query, signal, accept, headers = {} } = {}) {
    const asked = {
      ...sessionHeaders(),
      Accept: accept ?? "application/json",
      ...(as ? { "Coordrooms-Conversation": encodeURIComponent(as) } : {}),
      ...(key ? { "Idempotency-Key": key } : {}),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    };
    let response;
    try {
      response = await fetch(address(path, query), {
        method,
        headers: asked,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
        credentials: "same-origin",
        cache: "no-store",
        redirect: "error",
      });
    } catch (error) {
      throw error.name === "AbortError" ? error : new Away();
    }
    if (response.ok) return response;
    const refused = new Refused(response.status, await problemOf(response));
    if (response.status === 401 && path !== SIGN_IN) this.signedOut(refused);
    throw refused;
  }

  /**
   * A room's log from `afterSeq` on (null: from now on), for as long as it is wanted: it survives restarts of the daemon and
   * the computer's sleep, and misses nothing. The answer has `close()` and `lastSeq`.
   *
   * `handlers`: `event(event)`, `gap({from_seq, to_seq})`, `state("open" | "waiting")`, and `end(error)` when it is over: the
   * daemon refuses it (`cursor_ahead`: the database was restored), or one has left the room.
   */
  stream(path, afterSeq, handlers, { as } = {}) {
    return new Stream(this, "GET", path, handlers, { as, lastSeq: afterSeq });
  }

  /** All rooms at a glance, from the page's own stream; `handlers` have `card`, `gone`, `ready` beside those of `stream`. */
  overview(seen, handlers) {
    return new Stream(this, "POST", "/page/api/overview", handlers, { body: () => ({ seen: seen() }) });
  }
}

class Stream {
  #api;
  #method;
  #path;
  #handlers;
  #options;
  #closed = false;
  #attempt = null;
  #heardAt = 0;
  #failures = 0;
  #pausing = null;

  constructor(api, method, path, handlers, options) {
    this.#api = api;
    this.#method = method;
    this.#path = path;
    this.#handlers = handlers;
    this.#options = options;
    this.lastSeq = options.lastSeq ?? null;
    this.watch = setInterval(() => this.#look(), LOOK_EVERY_MS);
    addEventListener("online", this.#hurry);
    document.addEventListener("visibilitychange", this.#hurry);
    this.#run();
  }

  close() {
    this.#closed = true;
    clearInterval(this.watch);
    removeEventListener("online", this.#hurry);
    document.removeEventListener("visibilitychange", this.#hurry);
    this.#attempt?.abort();
    this.#pausing?.();
  }

  async #run() {
    while (!this.#closed) {
      try {
        await this.#read();
      } catch (error) {
        if (this.#closed) return;
        if (error instanceof Refused && !isPassing(error)) {
          this.close();
          this.#handlers.end?.(error);
          return;
        }
      }
      if (this.#closed) return;
      this.#handlers.state?.("waiting");
      this.#failures += 1;
      const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
      // At random, so that the tabs of a person do not all come at once.
      await new Promise((resolve) => {
        this.#pausing = resolve;
        setTimeout(resolve, most * (0.5 + Math.random() / 2));
      });
      this.#pausing = null;
    }
  }

  async #read() {
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#heardAt = Date.now();
    const response = await this.#api.open(this.#method, this.#path, {
      as: this.#options.as,
      body: this.#options.body?.(),
      accept: "text/event-stream",
      headers: this.lastSeq === null ? {} : { "Last-Event-ID": String(this.lastSeq) },
      signal: attempt.signal,
    });
    this.#failures = 0;
    this.#handlers.state?.("open");
    const reader = response.body.getReader();
    const events = new EventReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.#heardAt = Date.now();
      for (const event of events.feed(value)) {
        if (this.#closed || this.#isOver(event)) return;
        this.#take(event);
      }
    }
  }

  #isOver({ name, data }) {
    if (name !== "closing") return false;
    const { reason } = JSON.parse(data);
    if (reason === "closing") return true;
    this.close();
    const code = reason === "left" ? "active_membership_not_found" : "unauthorized";
    const detail = reason === "left" ? "You are no longer in this room." : "You were signed out.";
    const refused = new Refused(reason === "left" ? 409 : 401, { code, detail });
    if (reason !== "left") this.#api.signedOut(refused);
    this.#handlers.end?.(refused);
    return true;
  }

  #take({ name, id, data }) {
    const value = JSON.parse(data);
    if (name === "message") {
      // After a reconnect the daemon begins behind the last one that we name, so this only ever grows.
      this.#handlers.event?.(value);
      this.lastSeq = Number(id ?? value.seq);
    } else {
      this.#handlers[name]?.(value);
    }
  }

  /** A computer that slept has a connection that looks alive and says nothing. */
  #look() {
    if (this.#attempt && Date.now() - this.#heardAt > SILENT_FOR_MS) this.#attempt.abort();
  }

  #hurry = () => {
    if (document.visibilityState !== "visible") return;
    this.#look();
    this.#pausing?.();
  };
}

/** What may be otherwise in a moment. */
function isPassing(error) {
  return error.status >= 500 || error.status === 429;
}

function address(path, query) {
  const base = path.startsWith("/page/") ? "" : BASE;
  const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
  const search = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return `${base}${path}${search && `?${search}`}`;
}

async function problemOf(response) {
  try {
    return await response.json();
  } catch {
    return {};
  }
}

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
