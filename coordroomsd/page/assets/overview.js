// Rooms at a glance: who is in, what they do, hold and ask; conversations; who else there is. One stream feeds it all.

import { Conversation, Room } from "./overview/cards.js";
import { NewRoom } from "./overview/new_room.js";
import { People } from "./overview/people.js";
import { Questions } from "./overview/questions.js";
import { Alert, el } from "./room/dom.js";

const SEEN = "coordrooms:seen:";
// The newest: what is sent has a limit, and the overview shows a few hundred rooms at most.
const MOST_SEEN = 1000;
const TICK_MS = 1000;

/** The answer has `close()`. `me` is the answer to `GET /me`, `connection` where the page says how it stands. */
export function showOverview(main, { api, me, connection, go }) {
  return new Overview(main, api, me, connection, go);
}

class Overview {
  constructor(main, api, me, connection, go) {
    this.api = api;
    this.connection = connection;
    this.shown = new Map();
    this.fresh = new Set();
    // The daemon's clock less this computer's: leases run out by the daemon's.
    this.offset = 0;
    this.alert = new Alert();
    this.questions = new Questions(api, me, this.alert);
    this.people = new People(api, me, this.alert, go);
    this.newRoom = new NewRoom(api, me, go);
    this.summary = el("p", { class: "summary" });
    this.rooms = el("div", { class: "cards" });
    this.quiet = el("div", {});
    this.quietSection = section("Rooms with nobody in them", this.quiet, "quiet-rooms");
    this.conversations = el("ul", { class: "plain-list" });
    this.conversationSection = section("Conversations of two", this.conversations, "conversations");
    this.empty = el("p", { class: "notice", hidden: true }, "There is no room yet. Agents make one with ", el("code", {}, "create_room"), "; you can make one above.");
    main.replaceChildren(
      el(
        "div",
        { class: "overview" },
        el("header", { class: "overview-head" }, el("h1", {}, "Rooms"), this.summary, this.newRoom.node),
        this.alert.node,
        this.questions.node,
        this.empty,
        this.rooms,
        el("div", { class: "columns" }, this.conversationSection, this.quietSection, this.people.node),
      ),
    );
    document.title = "Rooms";
    this.stream = api.overview(seenHere, {
      ready: ({ now }) => this.ready(now),
      card: (card) => this.take(card),
      gone: ({ id }) => this.drop(id),
      state: (state) => this.show(state),
    });
    this.ticking = setInterval(() => this.tick(), TICK_MS);
    addEventListener("storage", this.looked);
  }

  close() {
    this.stream.close();
    clearInterval(this.ticking);
    removeEventListener("storage", this.looked);
  }

  /** All that there is has come; after a reconnect, what has not come again is no more. */
  ready(now) {
    for (const id of [...this.shown.keys()].filter((id) => !this.fresh.has(id))) this.drop(id);
    this.offset = Date.parse(now) - Date.now();
    this.isReady = this.questions.isAnnouncing = true;
    this.summarize();
  }

  take(card) {
    const { id, kind } = card.room;
    this.fresh.add(id);
    let shown = this.shown.get(id);
    const people = shown?.memberCount;
    if (!shown) {
      shown = kind === "room" ? new Room() : new Conversation();
      this.shown.set(id, shown);
    }
    shown.show(card, this.now());
    this.place(shown);
    this.questions.show(card);
    this.summarize();
    if (people !== undefined && people !== shown.memberCount) this.people.refresh();
  }

  /** Where a card belongs; one that is there already stays, so that nothing moves away under a pointer. */
  place(shown) {
    const isConversation = shown instanceof Conversation;
    const home = isConversation ? this.conversations : shown.isQuiet ? this.quiet : this.rooms;
    if (shown.node.parentNode === home) return;
    const later = [...home.children].find((other) => other.dataset.at < shown.node.dataset.at);
    home.insertBefore(shown.node, later ?? null);
  }

  drop(id) {
    this.shown.get(id)?.node.remove();
    this.shown.delete(id);
    this.questions.drop(id);
    this.summarize();
  }

  show(state) {
    this.connection.textContent = state === "open" ? "" : "Reconnecting…";
    if (state !== "open") return;
    this.fresh = new Set();
    this.people.refresh();
  }

  looked = (event) => {
    if (event.key?.startsWith(SEEN)) this.shown.get(event.key.slice(SEEN.length))?.looked(Number(event.newValue));
  };

  tick() {
    const now = this.now();
    for (const shown of this.shown.values()) shown.tick(now);
    this.questions.tick(now);
  }

  now() {
    return Date.now() + this.offset;
  }

  summarize() {
    if (!this.isReady) return;
    const rooms = [...this.shown.values()].filter((shown) => shown instanceof Room);
    const busy = rooms.filter((room) => !room.isQuiet);
    const members = busy.reduce((sum, room) => sum + room.memberCount, 0);
    this.summary.hidden = this.shown.size === 0;
    this.summary.textContent = [
      counted(busy.length, "room in use", "rooms in use"),
      counted(members, "member", "members"),
      counted(this.questions.count, "open question", "open questions"),
    ].join(" · ");
    this.empty.hidden = this.shown.size > 0;
    this.conversationSection.hidden = !this.conversations.children.length;
    this.quietSection.hidden = !this.quiet.children.length;
    const unread = [...this.shown.values()].some((shown) => shown.unread);
    document.title = unread ? "• Rooms" : "Rooms";
  }
}

function section(title, content, name) {
  return el("section", { class: name, "aria-labelledby": name, hidden: true }, el("h2", { id: name }, title), content);
}

function counted(number, one, many) {
  return `${number} ${number === 1 ? one : many}`;
}

/** How far this browser has looked into the rooms that it knows; ids sort by age. */
function seenHere() {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(SEEN)).sort().slice(-MOST_SEEN);
  const numbers = keys.map((key) => [key.slice(SEEN.length), Number(localStorage.getItem(key))]);
  return Object.fromEntries(numbers.filter(([, seq]) => Number.isSafeInteger(seq) && seq >= 0));
}
