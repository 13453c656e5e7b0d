import { el } from "./dom.js";
import { Popup } from "./popups.js";

const KEYS = [
  ["j, ↓ / k, ↑", "next / previous message"],
  ["Home / End", "beginning of what is loaded / newest"],
  ["u", "first unread"],
  ["a", "answer, or reply to, the message"],
  ["e", "react to the message"],
  ["i", "who has got the message"],
  ["n", "write"],
  ["q", "ask a question"],
  ["/", "search"],
  ["f", "filters"],
  ["p", "people, claims, questions"],
  ["g", "go to a number"],
  ["Enter / Shift Enter", "send / new line, while writing"],
  ["Esc", "back to the transcript"],
  ["?", "this list"],
];

export class HelpPopup extends Popup {
  constructor() {
    super("Keys");
    this.content.append(el("dl", { class: "keys" }, KEYS.flatMap(([keys, what]) => [el("dt", {}, el("kbd", {}, keys)), el("dd", {}, what)])));
  }
}

export class GoToPopup extends Popup {
  constructor(go) {
    super("Go to a number");
    this.field = el("input", { type: "number", min: "1", step: "1", "aria-label": "Number of the message", inputmode: "numeric", required: true });
    const form = el("form", { class: "small-form" }, this.field, el("button", { type: "submit", class: "primary" }, "Go"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const seq = Number(this.field.value);
      this.node.close();
      go(seq);
    });
    this.content.append(form);
  }

  show() {
    this.open("Go to a number");
    this.field.value = "";
    this.field.focus();
  }
}

/** Single keys, except while something is being typed. `deeds` is what each key does. */
export function onKeys(node, deeds) {
  const pressed = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (typing && event.key !== "Escape") return;
    const deed = deeds[event.key];
    // Arrows and the like move what has the focus, if that is no row and no transcript.
    if (!deed || (event.key.length > 1 && event.key !== "Escape" && !event.target.closest?.(".transcript") && event.target !== document.body)) return;
    event.preventDefault();
    deed();
  };
  node.addEventListener("keydown", pressed);
  return () => node.removeEventListener("keydown", pressed);
}
