import { marked } from "../text.js";
import { el } from "./dom.js";
import { SIGNS } from "./kinds.js";
import { nameOf } from "./rows.js";
import { Popup } from "./popups.js";
import { timeOf } from "./times.js";

const MOST = 100;
// A pause in typing after which the words are looked for.
const PAUSE_MS = 200;

/** Words in this room's messages, the newest first. */
export class SearchPopup extends Popup {
  constructor(calls, linkTo) {
    super("Search", { wide: true });
    this.calls = calls;
    this.linkTo = linkTo;
    this.field = el("input", { type: "search", "aria-label": "Words to look for", placeholder: "words in this room", autocomplete: "off", oninput: () => this._typed() });
    this.summary = el("p", { class: "summary", role: "status" });
    this.results = el("ol", { class: "results" });
    this.content.append(this.field, this.summary, this.results);
    this.field.addEventListener("keydown", (event) => {
      // The browser would empty the field first.
      if (event.key === "Escape") this.node.close();
      if (event.key === "ArrowDown" || event.key === "Enter") {
        event.preventDefault();
        this.results.querySelector("a")?.focus();
      }
    });
    this.results.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const links = [...this.results.querySelectorAll("a")];
      (links[links.indexOf(document.activeElement) + step] ?? this.field).focus();
    });
  }

  show() {
    this.open(this.calls.isConversation ? "Search this conversation" : "Search this room");
    this.field.focus();
    this.field.select();
  }

  close() {
    clearTimeout(this.pause);
    this.asking?.abort();
  }

  _typed() {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this._look(), PAUSE_MS);
  }

  async _look() {
    this.asking?.abort();
    const q = this.field.value.trim();
    this.alert.clear();
    if (!q) {
      this.results.replaceChildren();
      this.summary.textContent = "";
      return;
    }
    this.asking = new AbortController();
    const { signal } = this.asking;
    try {
      const parameters = new URLSearchParams({ q, room: this.calls.room.id, limit: MOST });
      const { results } = await this.calls.everywhere(`/search?${parameters}`, signal);
      if (signal.aborted) return;
      this.results.replaceChildren(...results.map((result) => this._result(result, q)));
      this.summary.textContent = results.length === MOST ? `The newest ${MOST}` : results.length === 1 ? "1 message" : `${results.length || "No"} messages`;
    } catch (error) {
      if (!signal.aborted) this.alert.show(error);
    }
  }

  _result({ message, snippet }, query) {
    const { seq, kind, author, at } = message;
    return el(
      "li",
      {},
      el("a", { href: this.linkTo(seq), "data-seq": seq }, el("span", { class: `about ${kind}` }, el("span", { class: "kind" }, el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[kind] ?? "·"), kind), nameOf(author), timeOf(at), el("span", { class: "number" }, `#${seq}`)), el("span", { class: "snippet", dir: "auto" }, marked(snippet, query))),
    );
  }
}
