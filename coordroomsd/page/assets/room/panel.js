import { excerpt, line } from "../text.js";
import { actButton, Alert, el } from "./dom.js";
import { kindOfParticipant, PERSON, SIGNS } from "./kinds.js";
import { presence } from "./presence.js";
import { nameOf } from "./rows.js";
import { length, share } from "./times.js";

const PRESENCE_SIGNS = { waiting: "◌", thinking: "…", here: PERSON, gone: "∅" };
const FEW_QUESTIONS = 5;
const LEASES = [["15 min", 900], ["1 h", 3600], ["4 h", 14_400], ["1 day", 86_400]];
const SPANS = [["5 min", 300], ["15 min", 900], ["1 h", 3600]];

/** Beside the transcript: who is here, what they hold, what they ask, and what one does oneself. */
export class Panel {
  constructor(calls, { openConversation, goTo, changed, linkTo }) {
    this.calls = calls;
    this.openConversation = openConversation;
    this.changed = changed;
    this.goTo = goTo;
    this.linkTo = linkTo;
    this.alerts = { people: new Alert(), claims: new Alert(), self: new Alert() };
    this.people = el("ul", { class: "people" });
    this.claims = el("ul", { class: "claims" });
    this.questions = el("ul", { class: "open-questions" });
    this.self = el("div", { class: "self" });
    this.peopleTitle = el("h2", {}, "People and agents");
    const sections = [
      el("section", { class: "asked" }, el("h2", {}, "Open questions"), this.questions),
      el("section", {}, this.peopleTitle, this.alerts.people.node, this.people),
    ];
    if (!calls.isConversation) {
      sections.push(
        el("section", {}, el("h2", {}, "Claims"), this.alerts.claims.node, this.claims, this._claimForm()),
        el("section", {}, el("h2", {}, "Myself"), this.alerts.self.node, this.self, this._statusForm()),
      );
    }
    this.node = el("aside", { class: "panel", "aria-label": "Who and what", tabindex: "-1" }, sections);
    this.bars = new Map();
  }

  /** `members` and `claims` as the room tells them now; `now` the daemon's time, as near as the page knows. */
  show({ members, claims }, now) {
    const present = members.filter((member) => this.calls.isConversation || member.state === "active");
    this.bars.clear();
    this.peopleTitle.textContent = this.calls.isConversation ? "Between" : `Here: ${present.length}`;
    present.sort((one, other) => (one.kind === other.kind ? one.name.localeCompare(other.name) : one.kind === "human" ? -1 : 1));
    keepFocus(this.people, () => this.people.replaceChildren(...present.map((member) => this._person(member, now))));
    keepFocus(this.claims, () => this.claims.replaceChildren(...(claims.length ? claims.map((claim) => this._claim(claim)) : [el("li", { class: "none" }, "Nothing is claimed.")])));
    this._showSelf();
    this.tick(now);
  }

  showQuestions(questions) {
    this.open = questions;
    const shown = this.allQuestions ? questions : questions.slice(0, FEW_QUESTIONS);
    const items = shown.map((entry) =>
      el("li", {}, el("a", { href: this.linkTo(entry.seq), "data-seq": entry.seq }, el("span", { class: "sign", "aria-hidden": "true" }, SIGNS.question), nameOf(entry.author), el("span", { class: "quoted" }, excerpt(entry.body, 140)))),
    );
    if (shown.length < questions.length) {
      const all = () => {
        this.allQuestions = true;
        this.showQuestions(this.open);
      };
      items.push(el("li", {}, el("button", { type: "button", class: "quiet", "data-keep": "more", onclick: all }, `${questions.length - shown.length} earlier ones`)));
    }
    keepFocus(this.questions, () => this.questions.replaceChildren(...(items.length ? items : [el("li", { class: "none" }, "None that is recent.")])));
  }

  /** Times left move on, though nothing happens. */
  tick(now) {
    for (const [bar, { since, until, words }] of this.bars) {
      const left = Date.parse(until) - now;
      bar.firstElementChild.style.inlineSize = `${(share(since, until, now) * 100).toFixed(1)}%`;
      bar.setAttribute("aria-valuenow", Math.round(share(since, until, now) * 100));
      bar.setAttribute("aria-valuetext", `${length(left)} left`);
      words.textContent = left > 0 ? `${length(left)} left` : "running out";
    }
  }

  _bar(label, since, until) {
    const bar = el("span", { class: "bar", role: "progressbar", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": "100" }, el("span", { class: "left" }));
    const words = el("span", { class: "time-left" });
    this.bars.set(bar, { since, until, words });
    return [bar, words];
  }

  _person(member, now) {
    const { name, words } = presence(member, now);
    const item = el(
      "li",
      { class: `person-row ${name}` },
      el("div", { class: "who" }, nameOf(member), el("span", { class: "presence", title: lastCall(member, now) }, el("span", { "aria-hidden": "true" }, `${PRESENCE_SIGNS[name]} `), words)),
    );
    if (member.status) {
      item.append(el("div", { class: "doing" }, line(member.status.status)), el("div", { class: "runs" }, this._bar(`Status of ${member.name}`, member.status.since, member.status.expires_at), el("span", { class: "age" }, `for ${length(now - Date.parse(member.status.since))}`)));
    }
    const isHereAlready = this.calls.isConversation && this.calls.member !== null;
    if (!this.calls.isMe(member) && !isHereAlready) {
      const { word } = kindOfParticipant(member.kind);
      item.firstChild.append(
        actButton("✉", () => this.openConversation(member.conversation_id), { failed: this.alerts.people.show, class: "quiet", title: `A conversation with this ${word}`, "aria-label": `Open a conversation with ${member.name}`, "data-keep": `talk ${member.conversation_id}` }),
      );
    }
    return item;
  }

  _claim(claim) {
    const mine = this.calls.isMe(claim.holder);
    const item = el("li", { class: mine ? "claim mine" : "claim" }, el("div", {}, el("span", { class: "sign", "aria-hidden": "true" }, "⚑"), el("span", { class: "key" }, line(claim.key))), el("div", { class: "held" }, nameOf(claim.holder)), el("div", { class: "runs" }, this._bar(`Claim on ${claim.key}`, claim.since, claim.expires_at)));
    if (mine) {
      const failed = this.alerts.claims.show;
      const release = () => this._changed(() => this.calls.act("DELETE", `claims?key=${encodeURIComponent(claim.key)}&fence=${claim.fence}`));
      const renew = () => this._changed(() => this.calls.act("POST", "claims", { body: { key: claim.key, fence: claim.fence } }));
      item.append(
        el("div", { class: "buttons" }, actButton("Renew", renew, { failed, class: "quiet", "aria-label": `Renew the claim on ${claim.key} for an hour`, "data-keep": `renew ${claim.key}` }), actButton("Release", release, { failed, class: "quiet", "aria-label": `Release ${claim.key}`, "data-keep": `release ${claim.key}` })),
      );
    }
    return item;
  }

  _claimForm() {
    const key = el("input", { "aria-label": "What to claim", placeholder: "what to claim", maxlength: "120", autocomplete: "off", dir: "auto" });
    const lease = el("select", { "aria-label": "For how long" }, LEASES.map(([words, seconds]) => el("option", { value: seconds, selected: seconds === 3600 }, words)));
    return this._form("claims", [key, lease, el("button", { type: "submit" }, "Claim")], async () => {
      await this.calls.act("POST", "claims", { body: { key: key.value, lease_s: Number(lease.value) } });
      key.value = "";
    });
  }

  _statusForm() {
    const status = el("input", { "aria-label": "What I am doing", placeholder: "what I am doing", maxlength: "120", autocomplete: "off", dir: "auto" });
    const span = el("select", { "aria-label": "For how long" }, SPANS.map(([words, seconds]) => el("option", { value: seconds }, words)));
    return this._form("self", [status, span, el("button", { type: "submit" }, "Set")], async () => {
      await this.calls.act("PUT", "status", { body: { status: status.value, expires_in_s: Number(span.value) } });
      status.value = "";
    });
  }

  _form(name, parts, act) {
    const form = el("form", { class: "small-form" }, parts);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (form.getAttribute("aria-busy") === "true") return;
      form.setAttribute("aria-busy", "true");
      this.alerts[name].clear();
      try {
        await this._changed(act);
      } catch (error) {
        this.alerts[name].show(error);
      } finally {
        form.removeAttribute("aria-busy");
      }
    });
    return form;
  }

  async _changed(act) {
    for (const alert of Object.values(this.alerts)) alert.clear();
    await act();
    this.changed();
  }

  _showSelf() {
    const { member } = this.calls;
    const failed = this.alerts.self.show;
    const join = () => this._changed(() => this.calls.join());
    const leave = () => this._changed(() => this.calls.leave());
    const clear = () => this._changed(() => this.calls.act("PUT", "status", { body: { status: null } }));
    keepFocus(this.self, () =>
      this.self.replaceChildren(
        member
          ? el("p", {}, "You are in this room as ", nameOf(member), ". ", member.status ? actButton("Clear my status", clear, { failed, "data-keep": "clear" }) : "", actButton("Leave", leave, { failed, "data-keep": "membership", title: "Your claims are released and your status ends; what was said stays." }))
          : el("p", {}, "You are reading along. Whatever you do here makes you a member. ", actButton("Join", join, { failed, "data-keep": "membership" })),
      ),
    );
  }
}

/** What is drawn anew does not take the focus from the control it was on. */
function keepFocus(list, draw) {
  const kept = list.contains(document.activeElement) ? document.activeElement : null;
  draw();
  if (!kept) return;
  const name = kept.dataset.keep ?? kept.dataset.seq;
  const same = [...list.querySelectorAll("[data-keep], [data-seq]")].find((node) => name && (node.dataset.keep ?? node.dataset.seq) === name);
  (same ?? list.closest("[tabindex]"))?.focus({ preventScroll: true });
}

function lastCall({ last_seen_at: at }, now) {
  return at === null ? "no call yet" : `last call ${length(now - Date.parse(at))} ago`;
}
