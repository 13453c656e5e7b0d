import { excerpt } from "../text.js";
import { Alert, el } from "./dom.js";
import { Draft } from "./drafts.js";
import { CONVERSATION_KINDS, ROOM_KINDS, SIGNS } from "./kinds.js";

/** Where one writes. `questionOf(seq)` finds the message that is answered; `posted()` is called with what was sent. */
export class Composer {
  constructor(calls, { questionOf, posted }) {
    this.calls = calls;
    this.questionOf = questionOf;
    this.posted = posted;
    this.draft = new Draft(calls.name, calls.room.id);
    this.kinds = calls.isConversation ? CONVERSATION_KINDS : ROOM_KINDS.filter((kind) => kind !== "answer");
    this.alert = new Alert();
    this.kind = el("select", { "aria-label": "Kind of message", onchange: () => this.draft.change({ kind: this.kind.value }) });
    this.kind.append(...this.kinds.map((kind) => el("option", { value: kind }, `${SIGNS[kind]} ${kind}`)));
    this.text = el("textarea", {
      rows: "1", "aria-label": "Message", dir: "auto", placeholder: calls.isConversation ? "Write a message…" : "Write to the room…", enterkeyhint: "send",
      oninput: () => this._typed(), onkeydown: (event) => this._pressed(event),
    });
    this.reply = el("div", { class: "replying", hidden: true });
    this.send = el("button", { type: "submit", class: "primary" }, "Send");
    this.hint = el("span", { class: "hint" });
    this.node = el(
      "form",
      { class: "composer", "aria-label": "Write a message", onsubmit: (event) => this._submit(event) },
      this.reply,
      el("div", { class: "writing" }, this.kind, this.text, this.send),
      this.alert.node,
      this.hint,
    );
    this._stored = (event) => {
      if (event.key === this.draft.place && document.activeElement !== this.text) {
        this.draft.load();
        this._show();
      }
    };
    addEventListener("storage", this._stored);
    this._show();
  }

  close() {
    removeEventListener("storage", this._stored);
  }

  /** Write an answer, or in a conversation a reply, to a message. */
  answer(entry) {
    this.draft.change({ replyTo: entry.seq });
    this._show();
    this.text.focus();
  }

  /** Whether an answer to this message, or in a conversation a reply, makes sense. */
  answerable(entry) {
    return this.calls.isConversation || entry.kind === "question";
  }

  begin(kind) {
    if (kind && this.kinds.includes(kind)) this.draft.change({ kind });
    this._show();
    this.text.focus();
  }

  /** What is said below the field: where a post goes, and as whom. */
  tell(words) {
    this.hint.textContent = words;
  }

  _show() {
    const { draft } = this;
    this.text.value = draft.body;
    this.kind.value = this.kinds.includes(draft.kind) ? draft.kind : this.kinds[0];
    // An answer is of no other kind; a reply in a conversation may be any.
    this.kind.hidden = draft.replyTo !== null && !this.calls.isConversation;
    this._showReply();
    this._fit();
    this.send.textContent = draft.replyTo === null ? "Send" : this.calls.isConversation ? "Reply" : "Answer";
    if (draft.tried && draft.body) {
      this.alert.show({ detail: "This was being sent when the page went away.", recovery: "Send it again: if it has arrived already, it is not repeated." });
    }
  }

  async _showReply() {
    const seq = this.draft.replyTo;
    this.reply.hidden = seq === null;
    if (seq === null) return;
    const entry = await this.questionOf(seq).catch(() => null);
    if (seq !== this.draft.replyTo) return;
    this.reply.replaceChildren(
      el("span", {}, this.calls.isConversation ? `Replying to #${seq} ` : `Answering #${seq} `),
      entry ? el("span", { class: "quoted" }, excerpt(entry.author.name, 40), ": ", excerpt(entry.body, 120)) : "",
      el("button", { type: "button", class: "quiet", "aria-label": "Answer nothing", onclick: () => this._unanswer() }, "✕"),
    );
  }

  _unanswer() {
    this.draft.change({ replyTo: null });
    this._show();
    this.text.focus();
  }

  _typed() {
    this.draft.change({ body: this.text.value });
    this._fit();
  }

  _fit() {
    this.text.style.height = "auto";
    this.text.style.height = `${Math.min(this.text.scrollHeight + 2, innerHeight * 0.4)}px`;
  }

  _pressed(event) {
    // Enter that ends a composition (of Japanese, say) sends nothing.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.node.requestSubmit();
    } else if (event.key === "Escape" && this.draft.replyTo !== null) {
      event.stopPropagation();
      this._unanswer();
    }
  }

  async _submit(event) {
    event.preventDefault();
    if (this.sending || !this.text.value.trim()) return;
    this.sending = true;
    this.send.setAttribute("aria-busy", "true");
    this.alert.clear();
    this.draft.change({ body: this.text.value });
    this.draft.sending();
    const { key, replyTo } = this.draft;
    const kind = replyTo !== null && !this.calls.isConversation ? "answer" : this.kind.value;
    try {
      const answer = await this.calls.post({ kind, body: this.draft.body, replyTo }, key);
      this.draft.sent(key);
      this._show();
      this.posted(answer.message ?? answer.messages[0]);
    } catch (error) {
      this.alert.show(error);
    } finally {
      this.sending = false;
      this.send.removeAttribute("aria-busy");
    }
  }
}
