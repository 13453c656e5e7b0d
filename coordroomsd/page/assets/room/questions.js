import { CONVERSATION_KINDS } from "./kinds.js";

// How far back open questions are looked for when the room is opened.
const AS_FAR_AS = 2000;
const MOST = 20;

/** Questions that nobody has answered, the newest first; kept up to date by the events that come. */
export class OpenQuestions {
  constructor(calls, changed) {
    this.calls = calls;
    this.changed = changed;
    this.asked = new Map();
    this.answered = new Set();
  }

  async load(head) {
    const after = Math.max(0, head - AS_FAR_AS);
    // A conversation's question is answered by whatever replies to it.
    const kinds = this.calls.isConversation ? CONVERSATION_KINDS : ["question", "answer"];
    const messages = (await Promise.all(kinds.map((kind) => this._all(kind, after)))).flat();
    for (const { reply_to: seq } of messages) this.answered.add(seq);
    for (const message of messages) {
      if (message.kind === "question" && !this.answered.has(message.seq)) this.asked.set(message.seq, message);
    }
    this._changed();
  }

  take(events) {
    let different = false;
    for (const event of events) {
      if (event.type !== "message") continue;
      if (event.reply_to && this.asked.delete(event.reply_to)) different = true;
      if (event.reply_to) this.answered.add(event.reply_to);
      if (event.kind === "question") {
        this.asked.set(event.seq, event);
        different = true;
      }
    }
    // Both are bounded, however long the page is open.
    for (const kept of [this.asked, this.answered]) {
      for (const key of kept.keys()) {
        if (kept.size <= AS_FAR_AS) break;
        kept.delete(key);
      }
    }
    if (different) this._changed();
  }

  async _all(kind, after) {
    const found = [];
    for (let start = after; ; ) {
      const page = await this.calls.read(`messages?kind=${kind}&after_seq=${start}&limit=1000`);
      found.push(...page.messages);
      if (!page.has_more) return found;
      start = page.next_after_seq;
    }
  }

  isOpen(seq) {
    return this.asked.has(seq);
  }

  _changed() {
    this.changed([...this.asked.values()].sort((one, other) => other.seq - one.seq).slice(0, MOST));
  }
}
