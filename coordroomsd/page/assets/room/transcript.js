import { Alert, el } from "./dom.js";
import { EVERYTHING_BUT_REACTIONS, LogWindow } from "./log_window.js";
import { RowList } from "./row_list.js";
import { TargetLookups } from "./target_lookups.js";

// Closer to the end than this is at the end: fractions of a pixel and a finger's tremble.
const AT_THE_END = 40;
// Events are put on the page in bunches: a burst costs a few layouts, not thousands.
const BUNCH_MS = 50;
// Fetches for one movement, so that a window that cannot be filled does not fetch for ever.
const MOST_FILLS = 6;
// Heights of the screen that are kept ready above and below.
const READY = 2;

/**
 * The rows of a room on the screen: a window onto its log, which moves as the reader scrolls and follows the end while the reader
 * is there. `changed()` is called when the position may have changed (`following`, `below`, `unreadAhead`), `took(events)` with each
 * bunch of events that came.
 */
export class Transcript {
  constructor(calls, view, { looked, changed, took }) {
    this.view = view;
    this.looked = looked;
    this.changed = changed;
    this.took = took;
    this.window = new LogWindow((rest) => calls.read(rest));
    this.targets = new TargetLookups(calls, (entry) => this.list.redraw(entry));
    this.following = true;
    this.below = 0;
    this._top = 0;
    this._waiting = [];
    this._turn = Promise.resolve();
    this._askedFurther = { older: false, newer: false };
    this.alert = new Alert();
    this.top = el("div", { class: "edge" });
    this.bottom = el("div", { class: "edge" });
    this.node = el("div", { class: "transcript", role: "log", "aria-live": "off", "aria-label": "Transcript", tabindex: "0" });
    this.list = new RowList(view, this.node);
    this.node.append(this.top, this.list.node, this.bottom);
    this.node.addEventListener("scroll", () => this._scrolled(), { passive: true });
    this._resized = new ResizeObserver(() => {
      if (this.following) this._toBottom();
      this._fill();
    });
    this._resized.observe(this.node);
    this._resized.observe(this.list.node);
  }

  close() {
    this._closed = true;
    this._resized.disconnect();
    clearTimeout(this._timer);
    this.targets.close();
    this.window.changes += 1;
  }

  /** The newest rows. */
  end(head = this.window.head) {
    return this._jump(async () => {
      this.following = true;
      this.below = 0;
      if (!this.window.atEnd || !this.window.rows.length) {
        this.window.reset(head, head + 1);
        await this._load("older");
      }
      this._toBottom();
    });
  }

  /** Bring a message, or what is nearest behind it, to the middle. False when it is not there. */
  async goTo(seq, { focus = true } = {}) {
    const found = await this._jump(async () => {
      this.following = false;
      await this._around(seq);
      if (!this.entry(seq) && this.window.filter !== EVERYTHING_BUT_REACTIONS) {
        this.window.filter = EVERYTHING_BUT_REACTIONS;
        await this._around(seq, true);
      }
      const entry = this.entry(seq) ?? this.window.rows.find((row) => row.seq > seq) ?? this.window.rows.at(-1);
      if (!entry) return false;
      const row = this.list.elements.get(entry.seq);
      row.scrollIntoView({ block: "center" });
      if (focus) this.list.focus(row);
      row.classList.remove("flash");
      requestAnimationFrame(() => row.classList.add("flash"));
      return entry.seq === seq;
    });
    this._scrolled();
    return found;
  }

  firstUnread() {
    this.goTo(this.looked + 1);
  }

  setFilter(filter) {
    return this._jump(async () => {
      const anchor = this.following ? null : this.list.firstVisible();
      this.window.filter = filter;
      const head = this.window.head;
      const at = anchor ? Number(anchor.dataset.seq) : head + 1;
      this.window.reset(head, at);
      this._askedFurther = { older: false, newer: false };
      await this._load("older");
      if (anchor) await this._load("newer");
      if (this.following) this._toBottom();
    });
  }

  /** Events of the stream, in order. */
  receive(event) {
    this._waiting.push(event);
    this._timer ??= setTimeout(() => this._takeWaiting(), BUNCH_MS);
  }

  /** A message's reactions as they are now. */
  react(seq, reactions) {
    const entry = this.entry(seq);
    if (!entry) return;
    entry.reactions = reactions;
    this.list.redrawReactions(entry);
  }

  questionsChanged() {
    for (const entry of this.window.rows) {
      if (entry.kind === "question") this.list.redrawTools(entry);
    }
  }

  get filtered() {
    return this.window.filter !== EVERYTHING_BUT_REACTIONS;
  }

  beginning() {
    const [row] = this.window.rows;
    if (!row) return;
    this.node.scrollTop = 0;
    this.list.focus(this.list.elements.get(row.seq));
  }

  entry(seq) {
    return this.window.rows.find((row) => row.seq === seq);
  }

  /** The entry that has the focus. */
  get current() {
    const row = this.list.focused;
    return row ? this.entry(Number(row.dataset.seq)) : null;
  }

  get unreadAhead() {
    if (this.looked === 0 || this.looked >= this._headAtStart) return false;
    const first = this.window.rows.find((entry) => this._isUnread(entry));
    if (!first || this.window.from > this.looked + 1) return true;
    return this.list.isAbove(first.seq);
  }

  set head(seq) {
    this._headAtStart = seq;
  }

  async _around(seq, anew = false) {
    if (!anew && seq >= this.window.from && seq <= this.window.to && this.window.rows.length) return;
    this.window.reset(this.window.head, Math.min(Math.max(1, seq), this.window.head + 1));
    this._askedFurther = { older: false, newer: false };
    await this._load("newer");
    await this._load("older");
  }

  _takeWaiting() {
    this._timer = undefined;
    const events = this._waiting;
    this._waiting = [];
    if (this._closed) return;
    const before = this.window.head;
    this.took(events);
    this.window.live(events, !this.following);
    if (!this.following) {
      this.below += events.filter((event) => event.seq > before && event.type === "message" && this.window.passes(event) && !this.view.isMe(event.author)).length;
    }
    this._draw();
    if (!this.window.atEnd && this.following) this._fill();
  }

  async _load(direction) {
    this._edges(direction);
    try {
      const enough = await this.window[direction]();
      this._askedFurther[direction] = !enough;
      this.alert.clear();
      return true;
    } catch (error) {
      this._askedFurther[direction] = true;
      this.alert.show(error);
      return false;
    } finally {
      if (!this._closed) this._draw();
    }
  }

  /** A movement to elsewhere: what is being fetched for the place before is dropped. */
  _jump(work) {
    this.window.changes += 1;
    return this._exclusive(work);
  }

  /** One at a time: a stretch grows by what adjoins it. */
  _exclusive(work) {
    const result = this._turn.then(() => (this._closed ? undefined : work()));
    this._turn = result.catch(() => {});
    return result;
  }

  _fill() {
    if (this._filling || this._closed) return;
    this._filling = true;
    this._exclusive(async () => {
      const turn = this.window.changes;
      for (let fills = 0; fills < MOST_FILLS && turn === this.window.changes && !this._closed; fills += 1) {
        const { scrollTop, clientHeight, scrollHeight } = this.node;
        if (!clientHeight) return;
        const nearEnd = scrollHeight - scrollTop - clientHeight < READY * clientHeight;
        const direction =
          !this.window.atEnd && nearEnd && !this._askedFurther.newer ? "newer"
          : !this.window.atStart && scrollTop < READY * clientHeight && !this._askedFurther.older ? "older"
          : null;
        if (!direction || !(await this._load(direction))) return;
      }
    }).finally(() => {
      this._filling = false;
    });
  }

  _scrolled() {
    const { scrollTop, clientHeight, scrollHeight } = this.node;
    const isAtTheEnd = scrollHeight - scrollTop - clientHeight < AT_THE_END;
    // Rows that grow push the end away; only who scrolls up leaves it.
    const stays = this.following && scrollTop >= this._top;
    this.following = this.window.atEnd && (isAtTheEnd || stays);
    this._top = scrollTop;
    if (this.following) this.below = 0;
    this._fill();
    this.changed();
  }

  _toBottom() {
    this.node.scrollTop = this.node.scrollHeight;
    this._top = this.node.scrollTop;
  }

  /** Make the page show the window's rows; what the reader looks at stays where it is. */
  _draw() {
    const { rows } = this.window;
    const seqs = new Set(rows.map((row) => row.seq));
    const anchor = this.following ? null : this.list.firstVisible(seqs);
    const before = anchor?.getBoundingClientRect().top;
    for (const entry of rows) this._target(entry);
    const focusGone = this.list.draw(rows, this._lineBefore());
    this._edges();
    if (focusGone) this.node.focus({ preventScroll: true });
    if (this.following) this._toBottom();
    else if (anchor) this.node.scrollTop += anchor.getBoundingClientRect().top - before;
    this.changed();
  }

  _target(entry) {
    if (!entry.reply_to || entry.reply_target || entry.isAsked) return;
    const near = this.entry(entry.reply_to);
    if (near) entry.reply_target = { id: near.seq, kind: near.kind, body: near.body, author: near.author };
    else {
      entry.isAsked = true;
      this.targets.ask(entry);
    }
  }

  _isUnread(entry) {
    return entry.type === "message" && entry.seq > this.looked && !this.view.isMe(entry.author);
  }

  /** The first unread row, when what was read lies just before it. */
  _lineBefore() {
    const isKnown = this.looked > 0 && this.looked < this._headAtStart && this.window.from <= this.looked + 1;
    return isKnown ? this.window.rows.find((entry) => this._isUnread(entry)) : null;
  }

  _edges(loading = null) {
    const { window } = this;
    this.top.replaceChildren(...this._edge("older", loading === "older", window.atStart, this._beginning()));
    this.bottom.replaceChildren(...this._edge("newer", loading === "newer", window.atEnd, null));
  }

  _beginning() {
    if (this.window.first > 1) return `Up to #${this.window.first - 1} the room’s retention has removed what was said.`;
    return this.window.rows.length || this.window.head ? `The ${this.view.isConversation ? "conversation" : "room"} begins here.` : "Nothing has been said yet.";
  }

  _edge(direction, loading, done, words) {
    if (done) return words ? [words] : [];
    if (loading) return ["Loading…"];
    if (!this._askedFurther[direction]) return [];
    const failed = !this.alert.node.hidden;
    const { from, to } = this.window;
    const label = failed ? "Try again" : `Nothing found as far as #${direction === "older" ? from : to}. Look further`;
    const again = () => {
      this._askedFurther[direction] = false;
      this._exclusive(() => this._load(direction));
    };
    return [failed ? this.alert.node : "", el("button", { type: "button", onclick: again }, label)];
  }
}
