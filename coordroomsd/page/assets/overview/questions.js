// What nobody has answered yet, of all rooms: the first thing that a person can help with.

import { excerpt, line } from "../text.js";
import { el } from "../room/dom.js";
import { ageOf, linkTo } from "./cards.js";
import { refill } from "./refill.js";

const SHOWN = 6;
const WORDS = 240;

export class Questions {
  constructor() {
    this.rooms = new Map();
    this.list = el("ul", { class: "plain-list" });
    this.heading = el("h2", { id: "questions" }, "Open questions");
    // Said aloud by a screen reader when something new is asked; the list itself is not.
    this.news = el("p", { class: "visually-hidden", role: "status" });
    this.node = el("div", {}, el("section", { class: "questions", "aria-labelledby": "questions", hidden: true }, this.heading, this.list), this.news);
    this.section = this.node.firstElementChild;
    this.latest = "";
    this.ages = [];
  }

  get count() {
    return [...this.rooms.values()].reduce((sum, card) => sum + card.open_questions, 0);
  }

  show(card) {
    const before = this.rooms.get(card.room.id);
    this.rooms.set(card.room.id, card);
    if (!before || JSON.stringify(before.questions) !== JSON.stringify(card.questions)) this.draw();
  }

  drop(id) {
    this.rooms.delete(id);
    this.draw();
  }

  draw() {
    const all = [...this.rooms.values()].flatMap(({ room, questions }) => questions.map((question) => ({ room, question })));
    all.sort((one, other) => (one.question.at < other.question.at ? 1 : -1));
    this.ages = [];
    refill(this.list, all.slice(0, SHOWN).map(({ room, question }) => this.row(room, question)));
    this.section.hidden = all.length === 0;
    this.heading.textContent = this.count > SHOWN ? `Open questions: the newest of ${this.count}` : "Open questions";
    this.tell(all[0]);
    this.tick(this.now ?? Date.now());
  }

  tell(newest) {
    if (!newest || newest.question.at <= this.latest) return;
    if (this.latest) this.news.replaceChildren(line(newest.question.author.name), " asks: ", excerpt(newest.question.body, WORDS));
    this.latest = newest.question.at;
  }

  row(room, question) {
    const age = el("time", { class: "soft small", datetime: question.at });
    this.ages.push((now) => (age.textContent = ageOf(question.at, now)));
    const where = room.kind === "room" ? line(room.name) : "a conversation";
    return el(
      "li",
      { class: "question" },
      el("span", { class: "sign", "aria-hidden": "true" }, "?"),
      el("a", { href: linkTo(room, question.id) }, excerpt(question.body, WORDS)),
      el("span", { class: "soft small" }, line(question.author.name), " in ", where, " · ", age),
    );
  }

  tick(now) {
    this.now = now;
    for (const age of this.ages) age(now);
  }
}
