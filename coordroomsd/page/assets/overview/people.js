// Everybody who was ever here, and a way to talk to one alone.

import { line } from "../text.js";
import { el } from "../room/dom.js";
import { kindOfParticipant } from "../room/kinds.js";
import { refill } from "./refill.js";

// A project that runs for months has thousands; who is in a room is on the cards.
const SHOWN = 50;
// The list of thousands is several calls, and an open page should cost the daemon next to nothing.
const PAUSE_MS = 10_000;

export class People {
  constructor(api, me, alert, go) {
    this.api = api;
    this.me = me;
    this.alert = alert;
    this.go = go;
    this.list = el("ul", { class: "plain-list" });
    this.find = el("input", { type: "search", placeholder: "Find by name", "aria-label": "Find somebody by name", oninput: () => this.draw() });
    this.more = el("p", { class: "soft small", role: "status" });
    this.all = [];
    this.node = el("section", { class: "people", "aria-labelledby": "people" }, el("h2", { id: "people" }, "Everybody"), this.find, this.list, this.more);
  }

  /** At once for the first time; then every so often, however much happens. */
  refresh() {
    this.timer ??= setTimeout(() => this.#load(), this.all.length ? PAUSE_MS : 0);
  }

  async #load() {
    try {
      const all = [];
      let after;
      for (let more = true; more; ) {
        const page = await this.api.call("GET", "/participants", { query: { after } });
        all.push(...page.participants);
        more = page.has_more;
        after = all.at(-1)?.conversation_id;
      }
      // The newest first, those who are in a room before all others.
      this.all = all.reverse().sort((one, other) => Number(other.active_room !== null) - Number(one.active_room !== null));
      this.draw();
    } catch (error) {
      if (error.code !== "away" && error.status !== 401) this.alert.show(error);
    } finally {
      this.timer = undefined;
    }
  }

  draw() {
    const wanted = this.find.value.trim().toLowerCase();
    const found = this.all.filter(({ conversation_id: id }) => id.toLowerCase().includes(wanted));
    refill(this.list, found.slice(0, SHOWN).map((one) => this.row(one)));
    this.more.textContent = found.length > SHOWN ? `${SHOWN} of ${found.length} are shown.` : found.length ? "" : "Nobody by that name.";
  }

  row(one) {
    const { sign, word } = kindOfParticipant(one.kind);
    const isMe = one.conversation_id === this.me.participant.conversation_id;
    return el(
      "li",
      {},
      el("span", { class: `name of-${one.kind === "human" ? "person" : "agent"}` }, el("span", { class: "sort", "aria-hidden": "true" }, sign), line(one.conversation_id), el("span", { class: "visually-hidden" }, `, ${word}`)),
      one.role === "operator" ? el("span", { class: "soft small" }, "operator") : null,
      one.active_room ? el("a", { class: "small", href: `/page/rooms/${encodeURIComponent(one.active_room)}` }, "in ", line(one.active_room)) : null,
      isMe ? el("span", { class: "soft small" }, "you") : this.talk(one.conversation_id),
    );
  }

  talk(id) {
    const button = el("button", { type: "button", class: "quiet small", "aria-label": `Talk to ${id}` }, "Talk");
    button.addEventListener("click", async () => {
      try {
        const { conversation } = await this.api.call("POST", "/conversations", { body: { with: id } });
        this.go(`/page/conversations/${encodeURIComponent(conversation.id)}`);
      } catch (error) {
        this.alert.show(error);
      }
    });
    return button;
  }
}
