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
    const questions = new Map(messages.filter(({ kind }) => kind === "question").map((message) => [message.seq, message]));
    for (const message of messages) {
      if (this._answers(message, questions.get(message.reply_to))) this.answered.add(message.reply_to);
    }
    for (const [seq, question] of questions) {
      if (!this.answered.has(seq)) this.asked.set(seq, question);
    }
    this._changed();
  }

  take(events) {
    let different = false;
    for (const event of events) {
      if (event.type !== "message") continue;
      if (this._answers(event, this.asked.get(event.reply_to))) {
        this.answered.add(event.reply_to);
        different = this.asked.delete(event.reply_to) || different;
      }
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

  /** In a conversation any kind may answer, but not whoever asked. */
  _answers({ reply_to: seq, author }, question) {
    if (!seq) return false;
    return !this.calls.isConversation || question?.author.conversation_id !== author.conversation_id;
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
