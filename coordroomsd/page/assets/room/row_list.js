import { Alert, el } from "./dom.js";
import { reactionsOf, rowOf, toolsOf } from "./rows.js";

/** The elements of a stretch of the log, one for each row; what is drawn already stays the same element. */
export class RowList {
  /** `scroller` is the element that scrolls them. */
  constructor(view, scroller) {
    this.view = view;
    this.scroller = scroller;
    this.elements = new Map();
    this.divider = el("div", { class: "unread-line" }, el("span", {}, "New since you last looked"));
    this.node = el("div", { class: "rows" });
  }

  /** Show these rows, with the line before `firstUnread`, if any. True when what had the focus is gone. */
  draw(rows, firstUnread) {
    const seqs = new Set(rows.map((row) => row.seq));
    let focusGone = false;
    for (const [seq, element] of this.elements) {
      if (seqs.has(seq)) continue;
      focusGone ||= element.contains(document.activeElement);
      element.remove();
      this.elements.delete(seq);
    }
    let next = this.node.firstElementChild;
    for (const entry of rows) {
      if (next === this.divider) next = next.nextElementSibling;
      const known = this.elements.get(entry.seq);
      if (known) {
        if (known !== next) this.node.insertBefore(known, next);
        next = known.nextElementSibling;
      } else {
        const element = rowOf(entry, this.view);
        this.elements.set(entry.seq, element);
        this.node.insertBefore(element, next);
      }
    }
    const unread = firstUnread && this.elements.get(firstUnread.seq);
    if (!unread) this.divider.remove();
    else if (this.divider.nextElementSibling !== unread) unread.before(this.divider);
    return focusGone;
  }

  /** A row anew, where it is on the page. */
  redraw(entry) {
    this._replace(entry.seq, this.elements.get(entry.seq), () => {
      const row = rowOf(entry, this.view);
      this.elements.set(entry.seq, row);
      return row;
    });
  }

  redrawReactions(entry) {
    this._replace(entry.seq, this.elements.get(entry.seq)?.querySelector(".reactions"), () => reactionsOf(entry, this.view));
  }

  /** Questions are open, or not any more: what one can do about them changes with it. */
  redrawTools(entry) {
    const old = this.elements.get(entry.seq)?.querySelector(".tools");
    const fresh = old && toolsOf(entry, this.view);
    const offersAnswers = (tools) => Boolean(tools.querySelector(".quick"));
    if (fresh && offersAnswers(fresh) !== offersAnswers(old)) this._replace(entry.seq, old, () => fresh);
  }

  /** What the daemon refused about a message, in its row. */
  refused(seq, error) {
    const row = this.elements.get(seq);
    if (!row) return;
    row.querySelector(".alert")?.remove();
    const alert = new Alert();
    row.append(alert.node);
    alert.show(error);
  }

  focus(row) {
    row.focus({ preventScroll: true });
  }

  get focused() {
    const row = document.activeElement?.closest?.(".row");
    return row && this.node.contains(row) ? row : null;
  }

  /** Focus the next row, or the one before; from nowhere, the last on the screen. */
  step(direction) {
    const rows = this._rows();
    const here = rows.indexOf(this.focused);
    const next = here < 0 ? this._lastVisible(rows) : rows[here + direction];
    if (!next) return;
    this.focus(next);
    next.scrollIntoView({ block: "nearest" });
  }

  /** The first row on the screen, of those in `seqs` if given. */
  firstVisible(seqs = null) {
    const { top } = this.scroller.getBoundingClientRect();
    return this._rows().find((row) => (!seqs || seqs.has(Number(row.dataset.seq))) && row.getBoundingClientRect().bottom > top) ?? null;
  }

  /** Whether a row is on the page, but further up than what is on the screen. */
  isAbove(seq) {
    const row = this.elements.get(seq);
    return Boolean(row) && row.getBoundingClientRect().bottom < this.scroller.getBoundingClientRect().top;
  }

  _rows() {
    return [...this.node.querySelectorAll(".row")];
  }

  _lastVisible(rows) {
    const { bottom } = this.scroller.getBoundingClientRect();
    return rows.reverse().find((row) => row.getBoundingClientRect().top < bottom);
  }

  _replace(seq, old, make) {
    if (!old) return;
    const hadFocus = old.contains(document.activeElement);
    old.replaceWith(make());
    if (hadFocus) this.focus(this.elements.get(seq));
  }
}
