import { cut } from "../text.js";
import { el } from "./dom.js";

// What is new is told together, no more often than this: a reader aloud is not talked over.
const PAUSE_MS = 4000;

/** New messages for a screen reader: one in full, several as a count with the questions named. */
export class Announcer {
  constructor(isMe) {
    this.isMe = isMe;
    this.node = el("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
    this.count = 0;
    this.questions = 0;
    this.last = null;
  }

  take(events) {
    for (const event of events) {
      if (event.type !== "message" || this.isMe(event.author)) continue;
      this.count += 1;
      if (event.kind === "question") this.questions += 1;
      this.last = event;
    }
    if (this.count) this.timer ??= setTimeout(() => this._tell(), PAUSE_MS);
  }

  say(words) {
    this.node.textContent = words;
  }

  close() {
    clearTimeout(this.timer);
  }

  _tell() {
    const { count, questions, last } = this;
    this.timer = undefined;
    Object.assign(this, { count: 0, questions: 0, last: null });
    const asked = questions === 1 ? ", 1 of them a question" : questions ? `, ${questions} of them questions` : "";
    const words = `${last.author.name}, ${last.kind}: ${cut(last.body.replace(/\s+/g, " "), 160)}`;
    this.say(count === 1 ? words : `${count} new messages${asked}. The last: ${words}`);
  }
}
