// One room, or one conversation, as the overview shows it.

import { excerpt, line } from "../text.js";
import { el } from "../room/dom.js";
import { kindOfParticipant, SIGNS } from "../room/kinds.js";
import { presence } from "../room/presence.js";
import { length, share } from "../room/times.js";
import { refill } from "./refill.js";

const WORDS = 160;
const MOST_UNREAD = 100;
const MEMBERS = 12;
const CLAIMS = 6;

export function linkTo(room, seq) {
  const base = room.kind === "room" ? `/page/rooms/${encodeURIComponent(room.slug)}` : `/page/conversations/${encodeURIComponent(room.id)}`;
  return seq ? `${base}/${seq}` : base;
}

/** What cards have in common: a link that stays, a count of what is unread, and the last words. */
class Card {
  constructor(tag, className) {
    this.link = el("a", { class: "title" });
    this.badge = el("span", { class: "badge" });
    this.last = el("p", { class: "last" });
    this.node = el(tag, { class: className });
    // What changes with the time alone, without anything new from the daemon.
    this.aging = [];
  }

  show(card, now) {
    this.card = card;
    this.aging = [];
    this.node.dataset.at = card.last_message?.at ?? card.room.created_at;
    this.link.href = linkTo(card.room);
    this.countUnread(card.unread);
    refill(this.last, this.lastWords());
    this.fill();
    this.tick(now);
  }

  looked(seq) {
    if (seq >= this.card.room.latest_seq) this.countUnread(0);
  }

  countUnread(unread) {
    this.unread = unread;
    this.badge.hidden = unread === 0;
    this.badge.textContent = unread >= MOST_UNREAD ? `${MOST_UNREAD - 1}+ new` : `${unread} new`;
  }

  lastWords() {
    const { last_message: last, room } = this.card;
    if (!last) return [el("span", { class: "soft" }, "Nothing was said yet.")];
    return [
      el("span", { class: "speaker" }, line(last.author.name)),
      el("span", { class: "sign", title: last.kind }, SIGNS[last.kind] ?? "●", el("span", { class: "visually-hidden" }, ` ${last.kind}: `)),
      el("a", { class: "quiet-link", href: linkTo(room, last.id) }, excerpt(last.body, WORDS)),
      " ",
      this.ageOf(last.at),
    ];
  }

  /** How long ago something was, kept up to date. */
  ageOf(at) {
    const node = el("time", { class: "soft small", datetime: at, title: new Date(at).toLocaleString() });
    this.aging.push((now) => (node.textContent = ageOf(at, now)));
    return node;
  }

  tick(now) {
    for (const age of this.aging) age(now);
  }
}

export function ageOf(at, now) {
  const passed = now - Date.parse(at);
  return passed < 5000 ? "now" : `${length(passed)} ago`;
}

export class Room extends Card {
  constructor() {
    super("section", "card");
    this.members = el("ul", { class: "members" });
    this.claims = el("ul", { class: "claims" });
    this.heading = el("h2", {}, this.link);
    this.node.append(el("header", {}, this.heading, this.badge), this.last, this.members, this.claims);
  }

  get isQuiet() {
    return this.card.members.length === 0;
  }

  get memberCount() {
    return this.card.members.length;
  }

  fill() {
    const { room, members, claims } = this.card;
    refill(this.link, [line(room.name)]);
    this.heading.id = `room-${room.id}`;
    this.node.setAttribute("aria-labelledby", this.heading.id);
    this.node.classList.toggle("has-unread", this.unread > 0);
    const ordered = [...members].sort((one, other) => (one.kind === other.kind ? 0 : one.kind === "human" ? -1 : 1));
    refill(this.members, [...ordered.slice(0, MEMBERS).map((member) => this.memberRow(member)), more(members.length - MEMBERS, linkTo(room))]);
    refill(this.claims, [...claims.slice(0, CLAIMS).map((claim) => this.claimRow(claim)), more(claims.length - CLAIMS, linkTo(room))]);
    this.members.hidden = !members.length;
    this.claims.hidden = !claims.length;
  }

  countUnread(unread) {
    super.countUnread(unread);
    this.node.classList.toggle("has-unread", unread > 0);
  }

  memberRow(member) {
    const { sign, word } = kindOfParticipant(member.kind);
    const state = el("span", { class: "state" });
    const dot = el("span", { class: "dot", "aria-hidden": "true" });
    const row = el(
      "li",
      { class: "member" },
      dot,
      el("span", { class: `name of-${member.kind === "human" ? "person" : "agent"}` }, el("span", { class: "sort", "aria-hidden": "true" }, sign), line(member.name), el("span", { class: "visually-hidden" }, `, ${word},`)),
      state,
      member.status ? this.statusOf(member.status) : null,
    );
    this.aging.push((now) => {
      const { name, words } = presence(member, now);
      dot.dataset.presence = name;
      if (state.textContent !== words) state.textContent = words;
    });
    return row;
  }

  statusOf({ status, since, expires_at: expiresAt }) {
    const ages = el("span", { class: "ages soft" });
    const left = el("span", { class: "left" });
    this.aging.push((now) => {
      ages.textContent = `for ${length(now - Date.parse(since))}, ${length(Date.parse(expiresAt) - now)} left`;
      left.style.inlineSize = `${(share(since, expiresAt, now) * 100).toFixed(1)}%`;
    });
    return el("span", { class: "status" }, el("span", { class: "words" }, line(status), " ", ages), el("span", { class: "fuse", "aria-hidden": "true" }, left));
  }

  claimRow(claim) {
    const left = el("span", { class: "time-left soft" });
    this.aging.push((now) => {
      const rest = Date.parse(claim.expires_at) - now;
      left.textContent = `${length(rest)} left`;
      left.classList.toggle("soon", rest < 120_000);
    });
    return el("li", {}, el("span", { class: "sign", "aria-hidden": "true" }, "⚑"), el("span", { class: "words" }, el("span", { class: "key" }, line(claim.key)), " ", el("span", { class: "holder soft" }, "held by ", line(claim.holder.name))), left);
  }
}

export class Conversation extends Card {
  constructor() {
    super("li", "line");
    this.node.append(this.link, this.badge, this.last);
  }

  get memberCount() {
    return this.card.room.members.length;
  }

  fill() {
    const { members } = this.card.room;
    refill(this.link, members.flatMap((member, number) => [number ? " and " : "", line(member.name)]));
  }
}

function more(number, href) {
  return number > 0 ? el("li", {}, el("a", { class: "soft small", href }, `and ${number} more`)) : null;
}
