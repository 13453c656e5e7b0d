// A stretch of a room's log, from `from` to `to`, both included: what the transcript shows. Numbers have no gaps, so any stretch
// can be asked for by number. At most `MOST_ROWS` rows are kept, however long the log is and however fast it grows.

export const MOST_ROWS = 300;
// Rows taken at once: fewer than are kept, so that what the reader looks at stays among them.
const PAGE = 100;
// How much of the log is read at once where a filter leaves little of it.
const FILTERED_PAGE = 1000;
const ENOUGH = 60;
// Pages in which a filter found nothing, after which the reader is asked whether to look further.
const MOST_BARREN_PAGES = 25;

export const EVERYTHING_BUT_REACTIONS = { hidden: new Set(["reaction"]), author: null };

export class LogWindow {
  /** `read(path)` gives a page as `/events` and `/messages` do. */
  constructor(read) {
    this.read = read;
    this.filter = EVERYTHING_BUT_REACTIONS;
    this.reset(0, 1);
  }

  /** An empty stretch before the number `at`. */
  reset(head, at) {
    this.rows = [];
    this.head = head;
    this.from = at;
    this.to = at - 1;
    // Numbers below are gone, by the room's retention.
    this.first = 1;
    this.changes = (this.changes ?? 0) + 1;
  }

  get atStart() {
    return this.from <= this.first;
  }

  get atEnd() {
    return this.to >= this.head;
  }

  passes(entry) {
    const { hidden, author } = this.filter;
    if (hidden.has(entry.type === "message" ? `message:${entry.kind}` : entry.type)) return false;
    return !author || (entry.author ?? entry.participant)?.conversation_id === author;
  }

  get _narrow() {
    const { hidden, author } = this.filter;
    return author !== null || [...hidden].some((name) => name.startsWith("message:"));
  }

  /** How far the next page reaches: a filter that leaves little is met by reading more, once it is known to. */
  _reach(page) {
    return this._narrow && page > 0 ? FILTERED_PAGE : PAGE;
  }

  /** Take rows from before. False when there was little to find and more is left: whoever reads is to be asked. */
  async older() {
    const turn = this.changes;
    let found = 0;
    for (let page = 0; page < MOST_BARREN_PAGES && found < ENOUGH && !this.atStart; page += 1) {
      const end = this.from;
      const after = Math.max(this.first - 1, end - 1 - this._reach(page));
      const { entries, first } = await this._stretch(after, end - 1);
      if (turn !== this.changes) return true;
      if (end !== this.from) continue; // live events pushed the beginning on meanwhile
      this.first = Math.max(this.first, first);
      const passing = entries.filter((entry) => this.passes(entry));
      const earlier = passing.slice(-PAGE);
      this.from = earlier.length < passing.length ? earlier[0].seq : after + 1;
      found += earlier.length;
      this.rows = [...earlier, ...this.rows];
      if (this.rows.length > MOST_ROWS) this._cutEnd();
    }
    return found > 0 || this.atStart;
  }

  /** Take rows from behind, as `older` does. */
  async newer() {
    const turn = this.changes;
    let found = 0;
    for (let page = 0; page < MOST_BARREN_PAGES && found < ENOUGH && !this.atEnd; page += 1) {
      const start = this.to;
      const last = Math.min(this.head, start + this._reach(page));
      const { entries, first, head } = await this._stretch(start, last);
      if (turn !== this.changes) return true;
      if (start !== this.to) continue;
      this.first = Math.max(this.first, first);
      this.head = Math.max(this.head, head);
      const passing = entries.filter((entry) => this.passes(entry));
      const later = passing.slice(0, PAGE);
      this.to = later.length < passing.length ? later.at(-1).seq : last;
      found += later.length;
      this._append(later);
    }
    return found > 0 || this.atEnd;
  }

  /** Events from the stream, in order. Returns those that became rows. */
  live(events, keepAll) {
    const added = [];
    for (const event of events) {
      if (event.seq <= this.head) continue;
      const adjoins = this.to === event.seq - 1;
      this.head = event.seq;
      // Who reads further up keeps what is on the screen; the rest is fetched on the way down.
      if (!adjoins || (keepAll && this.rows.length + added.length >= MOST_ROWS)) continue;
      this.to = event.seq;
      if (this.passes(event)) added.push({ ...event, live: true });
    }
    this._append(added);
    return added;
  }

  _append(entries) {
    if (!entries.length) return;
    this.rows = [...this.rows, ...entries];
    if (this.rows.length > MOST_ROWS) {
      this.rows = this.rows.slice(-MOST_ROWS);
      this.from = this.rows[0].seq;
    }
  }

  _cutEnd() {
    this.rows = this.rows.slice(0, MOST_ROWS);
    this.to = this.rows.at(-1).seq;
  }

  /** Everything after `after` up to `last`; messages with their reactions and targets, which events lack. */
  async _stretch(after, last) {
    const others = ["member", "status", "claim", "reaction"].some((type) => !this.filter.hidden.has(type));
    const [messages, events] = await Promise.all([
      this._pages("messages", after, last),
      others ? this._pages("events", after, last) : { entries: [], first: 1, head: 0 },
    ]);
    const bySeq = new Map(events.entries.map((event) => [event.seq, event]));
    for (const message of messages.entries) bySeq.set(message.seq, { type: "message", reason: null, ...message });
    const entries = [...bySeq.values()].filter(({ seq }) => seq <= last).sort((one, other) => one.seq - other.seq);
    return { entries, first: messages.first, head: messages.head };
  }

  /** A page ends early where its bodies are large, so there may be several. */
  async _pages(name, after, last) {
    const entries = [];
    for (let start = after; ; ) {
      const page = await this.read(`${name}?after_seq=${start}&limit=${Math.min(1000, last - start)}`);
      entries.push(...page[name]);
      const first = page.retention_gap ? page.retention_gap.to_seq + 1 : 1;
      if (!page.has_more || page.next_after_seq >= last) return { entries, first, head: page.latest_seq };
      start = page.next_after_seq;
    }
  }
}
