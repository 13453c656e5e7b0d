import { actButton, Alert, el } from "./dom.js";
import { REACTIONS } from "./kinds.js";
import { nameOf } from "./rows.js";
import { timeOf } from "./times.js";

/** A dialog that is there once. Closing it puts the focus back to where it was, or, when that is gone, into the transcript. */
export class Popup {
  constructor(title, { wide = false } = {}) {
    this.title = el("h2", {}, title);
    // Where it scrolls, the arrow keys have to reach it.
    this.content = el("div", { class: "content", tabindex: "0", role: "group", "aria-label": title });
    this.alert = new Alert();
    const shut = el("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => this.node.close() }, "✕");
    this.node = el("dialog", { class: wide ? "popup wide" : "popup" }, el("header", {}, this.title, shut), this.alert.node, this.content);
    this.node.setAttribute("aria-label", title);
    this.node.addEventListener("close", () => {
      this.shown = null;
      if (document.activeElement === document.body) document.querySelector(".transcript")?.focus();
    });
    this.node.addEventListener("click", (event) => {
      if (event.target === this.node) this.node.close();
    });
  }

  open(title) {
    this.title.textContent = title;
    this.node.setAttribute("aria-label", title);
    this.alert.clear();
    if (!this.node.open) this.node.showModal();
  }
}

/** Who reacted how to one message, people before agents; and one's own reactions, to add and to take back. */
export class ReactionsPopup extends Popup {
  constructor(calls, mayWrite, changed) {
    super("Reactions");
    this.calls = calls;
    this.mayWrite = mayWrite;
    this.changed = changed;
  }

  async show(entry) {
    this.shown = entry.seq;
    this.content.replaceChildren("Loading…");
    this.open(`Reactions to #${entry.seq}`);
    await this.refresh(entry.seq);
    this.content.querySelector("button")?.focus();
  }

  async refresh(seq) {
    if (seq !== this.shown) return;
    try {
      const { reactions } = await this.calls.read(`messages/${seq}/reactions`);
      if (seq === this.shown) this._fill(seq, reactions);
    } catch (error) {
      this.alert.show(error);
    }
  }

  _fill(seq, held) {
    const focused = document.activeElement?.dataset?.reaction;
    this.content.replaceChildren(
      el("ul", { class: "reactors" }, REACTIONS.map((reaction) => this._line(seq, reaction, held.filter((one) => one.reaction === reaction.name)))),
    );
    if (focused) this.content.querySelector(`[data-reaction="${focused}"]`)?.focus();
  }

  _line(seq, { name, sign }, held) {
    const mine = held.some(({ author }) => this.calls.isMe(author));
    const label = [el("span", { class: "sign", "aria-hidden": "true" }, sign), name];
    const act = async () => {
      this.alert.clear();
      await this.calls.react(seq, name, !mine);
      this.changed(seq);
      await this.refresh(seq);
    };
    const people = held.filter(({ author }) => author.kind === "human");
    const agents = held.filter(({ author }) => author.kind !== "human");
    return el(
      "li",
      {},
      this.mayWrite() ? actButton(label, act, { failed: this.alert.show, class: "chip", "aria-pressed": String(mine), "data-reaction": name }) : el("span", { class: "chip" }, label),
      people.length ? el("span", { class: "names people" }, people.map(({ author }) => nameOf(author))) : null,
      agents.length ? el("span", { class: "names agents" }, agents.map(({ author }) => nameOf(author))) : null,
    );
  }
}

const STAGES = [
  { name: "stored", sign: "○", meaning: "not fetched yet" },
  { name: "retrieved", sign: "◐", meaning: "has been shown it" },
  { name: "acknowledged", sign: "✓", meaning: "acknowledged it" },
  { name: "replied", sign: "↳", meaning: "replied" },
];

/** How far a message has come with everyone who was there. */
export class ReceiptsPopup extends Popup {
  constructor(calls, linkTo) {
    super("Delivery");
    this.calls = calls;
    this.linkTo = linkTo;
  }

  async show(entry) {
    this.shown = entry.seq;
    this.content.replaceChildren("Loading…");
    this.open(`Delivery of #${entry.seq}`);
    await this.refresh();
  }

  async refresh() {
    const seq = this.shown;
    if (!seq) return;
    try {
      const { receipts } = await this.calls.read(`messages/${seq}/receipts`);
      if (seq === this.shown) this._fill(receipts);
    } catch (error) {
      this.alert.show(error);
    }
  }

  _fill(receipts) {
    if (!receipts.length) {
      this.content.replaceChildren("Nobody else was there when it was said.");
      return;
    }
    const rows = receipts.map(({ participant, stage, acknowledged_at: at, reply_id: reply }) => {
      const reached = STAGES.findIndex(({ name }) => name === stage);
      return el(
        "li",
        { class: `stage ${stage}` },
        nameOf(participant),
        el("span", { class: "steps", "aria-hidden": "true" }, STAGES.map(({ sign }, number) => el("span", { class: number <= reached ? "step done" : "step" }, sign))),
        el("span", {}, STAGES[reached]?.meaning ?? stage, at ? [", ", timeOf(at)] : "", reply ? [", ", el("a", { href: this.linkTo(reply), "data-seq": reply }, `#${reply}`)] : ""),
      );
    });
    this.content.replaceChildren(el("ul", { class: "receipts" }, rows));
  }
}
