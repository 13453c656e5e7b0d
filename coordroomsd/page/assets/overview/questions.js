// What nobody has answered yet, of all rooms: the first thing that a person can help with, often by one word.

import { excerpt, line } from "../text.js";
import { RoomCalls } from "../room/calls.js";
import { actButton, el } from "../room/dom.js";
import { ageOf, linkTo } from "./cards.js";
import { refill } from "./refill.js";

const SHOWN = 6;
const WORDS = 240;

export class Questions {
  constructor(api, me, alert) {
    this.api = api;
    this.me = me;
    this.alert = alert;
    this.rooms = new Map();
    this.list = el("ul", { class: "plain-list" });
    this.heading = el("h2", { id: "questions" }, "Open questions");
    // Said aloud by a screen reader when something new is asked; the list itself is not.
    this.news = el("p", { class: "visually-hidden", role: "status" });
    this.node = el("div", {}, el("section", { class: "questions", "aria-labelledby": "questions", hidden: true }, this.heading, this.list), this.news);
    this.section = this.node.firstElementChild;
    this.latest = "";
    // What was asked before one came is read, not announced.
    this.isAnnouncing = false;
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
    const all = [...this.rooms.values()].flatMap((card) => card.questions.map((question) => ({ card, question })));
    all.sort((one, other) => (one.question.at < other.question.at ? 1 : -1));
    this.ages = [];
    refill(this.list, all.slice(0, SHOWN).map(({ card, question }) => this.row(card, question)));
    this.section.hidden = all.length === 0;
    this.heading.textContent = this.count > SHOWN ? `Open questions: the newest of ${this.count}` : "Open questions";
    this.tell(all[0]);
    this.tick(this.now ?? Date.now());
  }

  tell(newest) {
    if (!newest || newest.question.at <= this.latest) return;
    if (this.isAnnouncing) this.news.replaceChildren(line(newest.question.author.name), " asks: ", excerpt(newest.question.body, WORDS));
    this.latest = newest.question.at;
  }

  row(card, question) {
    const { room } = card;
    const id = `question-${room.id}-${question.id}`;
    const age = el("time", { datetime: question.at });
    this.ages.push((now) => (age.textContent = ageOf(question.at, now)));
    const where = room.kind === "room" ? line(room.name) : "a conversation";
    return el(
      "li",
      { class: "question" },
      el("span", { class: "sign", "aria-hidden": "true" }, "?"),
      el("a", { id, href: linkTo(room, question.id) }, excerpt(question.body, WORDS)),
      el("span", { class: "asked" }, line(question.author.name), " in ", where, " · ", age),
      this.answers(card, question, id),
    );
  }

  /** For all that takes more than a word there is the room, where the question's link leads. */
  answers({ room }, question, asked) {
    const calls = new RoomCalls(this.api, room, this.me);
    if (calls.isConversation || calls.isMe(question.author)) return null;
    const button = (words) =>
      actButton(
        words,
        async () => {
          this.alert.clear();
          calls.settle(this.rooms.get(room.id).members);
          await calls.quickAnswer(question.id, `${words}.`);
          this.news.textContent = "Answered.";
        },
        { id: `${asked}-${words}`, "aria-describedby": asked, title: `Answer “${words}.”`, failed: this.alert.show },
      );
    return el("span", { class: "answers" }, button("Yes"), button("No"));
  }

  tick(now) {
    this.now = now;
    for (const age of this.ages) age(now);
  }
}
