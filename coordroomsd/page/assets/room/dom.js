/**
 * An element. `attributes`: `on…` are listeners, true is an empty attribute, false and null are none, everything else is set
 * as text. Children are nodes or text, never markup.
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A button that cannot be pressed twice: while `act` runs it is busy, and what `act` throws goes to `failed`. */
export function actButton(label, act, { failed, ...attributes } = {}) {
  const button = el("button", { type: "button", ...attributes }, label);
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-busy") === "true") return;
    button.setAttribute("aria-busy", "true");
    try {
      await act(button);
    } catch (error) {
      if (!failed) throw error;
      failed(error);
    } finally {
      button.removeAttribute("aria-busy");
    }
  });
  return button;
}

/** A place for what a call was refused with: what happened, then what to do. */
export class Alert {
  constructor() {
    this.node = el("div", { class: "alert", role: "alert" });
    this.clear();
  }

  show = (error) => {
    if (error?.name === "AbortError") return;
    const happened = error?.detail || error?.message || String(error);
    this.node.replaceChildren(
      el("span", { dir: "auto" }, happened),
      error?.recovery && error.recovery !== happened ? el("span", { class: "recovery" }, ` ${error.recovery}`) : "",
      el("button", { type: "button", class: "quiet", "aria-label": "Dismiss this error", onclick: this.clear }, "✕"),
    );
    this.node.hidden = false;
  };

  clear = () => {
    this.node.replaceChildren();
    this.node.hidden = true;
  };
}
