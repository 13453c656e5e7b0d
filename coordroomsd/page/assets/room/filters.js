import { cut } from "../text.js";
import { el } from "./dom.js";
import { CONVERSATION_KINDS, EVENT_GROUPS, ROOM_KINDS, SIGNS } from "./kinds.js";
import { EVERYTHING_BUT_REACTIONS } from "./log_window.js";

/** Which rows are shown: by kind, and by author. `apply(filter)` is called with each change. */
export class Filters {
  constructor(calls, apply) {
    this.apply = apply;
    const kinds = calls.isConversation ? CONVERSATION_KINDS : ROOM_KINDS;
    const groups = calls.isConversation ? EVENT_GROUPS.filter(({ name }) => name === "reaction") : EVENT_GROUPS;
    this.boxes = new Map();
    const box = (name, label) => {
      const input = el("input", { type: "checkbox", onchange: () => this._changed() });
      input.checked = !EVERYTHING_BUT_REACTIONS.hidden.has(name);
      this.boxes.set(name, input);
      return el("label", { class: "filter" }, input, label);
    };
    this.author = el("select", { "aria-label": "Author", onchange: () => this._changed() }, el("option", { value: "" }, "everybody"));
    this.node = el(
      "form",
      { class: "filters", hidden: true, "aria-label": "Show", onsubmit: (event) => event.preventDefault() },
      el("fieldset", {}, el("legend", {}, "Messages"), kinds.map((kind) => box(`message:${kind}`, `${SIGNS[kind]} ${kind}`))),
      el("fieldset", {}, el("legend", {}, "Also"), groups.map(({ name, label }) => box(name, label))),
      el("label", { class: "filter" }, "by ", this.author),
      el("button", { type: "button", class: "quiet", onclick: () => this.reset() }, "Show everything"),
    );
  }

  /** Whom one can choose, by id; a name alone may be two people's. */
  authors(members) {
    const chosen = this.author.value;
    const known = new Set(Array.from(this.author.options, (option) => option.value));
    for (const { conversation_id: id, name } of members) {
      if (known.has(id)) continue;
      const words = id === name ? name : `${name} (${id})`;
      this.author.append(el("option", { value: id }, cut(words, 60)));
    }
    this.author.value = chosen;
  }

  get narrow() {
    return this.author.value !== "" || [...this.boxes].some(([name, box]) => !box.checked && !EVERYTHING_BUT_REACTIONS.hidden.has(name));
  }

  /** The controls as they are when nothing is filtered. */
  relax() {
    for (const [name, box] of this.boxes) box.checked = !EVERYTHING_BUT_REACTIONS.hidden.has(name);
    this.author.value = "";
  }

  reset() {
    this.relax();
    this.apply(EVERYTHING_BUT_REACTIONS);
  }

  _changed() {
    const hidden = new Set([...this.boxes].filter(([, box]) => !box.checked).map(([name]) => name));
    this.apply({ hidden, author: this.author.value || null });
  }
}
