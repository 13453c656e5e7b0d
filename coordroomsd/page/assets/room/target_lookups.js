const AT_ONCE = 2;

/** What live answers answer, when it is not among the rows: asked for a few at a time, and only while the row is wanted. */
export class TargetLookups {
  constructor(calls, found) {
    this.calls = calls;
    this.found = found;
    this.wanted = [];
    this.running = 0;
    this.ended = new AbortController();
  }

  ask(entry) {
    this.wanted.push(entry);
    // In a flood the rows of the oldest have gone from the page already.
    if (this.wanted.length > 200) this.wanted.shift();
    this._next();
  }

  close() {
    this.wanted = [];
    this.ended.abort();
  }

  async _next() {
    if (this.running >= AT_ONCE || !this.wanted.length) return;
    this.running += 1;
    const entry = this.wanted.shift();
    try {
      const { message } = await this.calls.read(`messages/${entry.reply_to}`, this.ended.signal);
      entry.reply_target = { id: message.seq, kind: message.kind, body: message.body, author: message.author };
      this.found(entry);
    } catch (error) {
      if (error.code === "message_not_found") {
        entry.reply_target = { id: entry.reply_to, removed: true };
        this.found(entry);
      }
      // Otherwise the row keeps the bare number, which links to the message.
    } finally {
      this.running -= 1;
      this._next();
    }
  }
}
