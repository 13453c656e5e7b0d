import { cut, excerpt, line, prose } from "../text.js";
import { el } from "./dom.js";
import { AGENT, headcount, kindOfParticipant, REACTION_SIGNS, SIGNS } from "./kinds.js";
import { clock, timeOf } from "./times.js";

// What a row shows of a body before it is asked for the rest.
const SHORT = 2500;
const SHORT_LINES = 28;
const QUOTED = 180;
const SPOKEN = 240;

/** A name with the sign of its kind. */
export function nameOf(who) {
  const { sign, word } = kindOfParticipant(who.kind);
  const id = who.conversation_id === who.name ? null : cut(who.conversation_id, 200);
  return el(
    "span",
    { class: `name of-${word}`, title: id && JSON.stringify(id) },
    el("span", { class: "sort", "aria-hidden": "true" }, sign),
    excerpt(who.name, 60),
    el("span", { class: "visually-hidden" }, ` (${word})`),
  );
}

/**
 * A row of the transcript. `view` knows the room: `linkTo(seq)`, `isMe(who)`, `isOpen(seq)` for questions, and what the buttons do: `answer`, `quickAnswer`,
 * `openReactions`, `openReceipts`, each with the entry and the row. Whoever may not write has no buttons that write.
 */
export function rowOf(entry, view) {
  return entry.type === "message" ? messageRow(entry, view) : eventRow(entry, view);
}

function messageRow(entry, view) {
  const { kind, author, seq } = entry;
  const row = el("article", { class: `row message ${kind}`, "data-seq": seq, tabindex: "-1", "aria-label": spokenTitle(entry) });
  const mine = view.isMe(author);
  if (mine) row.classList.add("mine");
  row.append(
    el(
      "header",
      {},
      el("span", { class: "kind" }, el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[kind] ?? "·"), kind),
      nameOf(author),
      timeOf(entry.at),
      el("a", { class: "permalink", href: view.linkTo(seq), "data-seq": seq, "aria-label": `Message ${seq}, permanent link` }, `#${seq}`),
    ),
  );
  if (entry.reply_to) row.append(quoteOf(entry, view));
  row.append(bodyOf(entry, view), reactionsOf(entry, view), toolsOf(entry, view));
  return row;
}

function spokenTitle({ kind, author, seq, body }) {
  return `${kind} by ${author.name}, number ${seq}: ${cut(body.replace(/\s+/g, " "), SPOKEN)}`;
}

export function quoteOf({ reply_to: seq, reply_target: target }, view) {
  if (target?.removed) return el("p", { class: "quote removed" }, `#${seq} was removed by the room’s retention`);
  if (!target) return el("a", { class: "quote", href: view.linkTo(seq), "data-seq": seq }, `#${seq}`);
  return el(
    "a",
    { class: `quote ${target.kind}`, href: view.linkTo(seq), "data-seq": seq, "aria-label": `In reply to ${target.kind} ${seq} by ${target.author.name}: ${cut(target.body, QUOTED)}` },
    el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[target.kind] ?? "·"),
    nameOf(target.author),
    el("span", { class: "quoted" }, excerpt(target.body, QUOTED)),
  );
}

function bodyOf(entry, view) {
  const short = shortened(entry.body);
  if (short === entry.body) return prose(entry.body, view.linkTo);
  const whole = el("div", { class: "long" }, prose(short, view.linkTo));
  const button = el("button", { type: "button", class: "quiet", "aria-expanded": "false" }, `Show all ${entry.body.length.toLocaleString()} characters`);
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") === "true";
    whole.firstChild.replaceWith(prose(open ? short : entry.body, view.linkTo));
    button.setAttribute("aria-expanded", String(!open));
    button.textContent = open ? `Show all ${entry.body.length.toLocaleString()} characters` : "Show less";
  });
  whole.append(button);
  return whole;
}

function shortened(body) {
  const lines = body.split("\n", SHORT_LINES + 1);
  const text = lines.length > SHORT_LINES ? `${lines.slice(0, SHORT_LINES).join("\n")}\n…` : body;
  return text.length > SHORT ? cut(text, SHORT) : text;
}

/** Who has reacted, people and agents apart; opens the list with the names. */
export function reactionsOf(entry, view) {
  const counts = Object.entries(entry.reactions?.counts ?? {});
  const chips = counts.map(([reaction, { total, human }]) =>
    el(
      "button",
      { type: "button", class: "chip", "aria-haspopup": "dialog", "aria-label": `${reaction}: ${headcount(total, human)}`, onclick: () => view.openReactions(entry) },
      el("span", { class: "sign", "aria-hidden": "true" }, REACTION_SIGNS[reaction] ?? "·"),
      el("span", {}, reaction),
      human ? el("span", { class: "count of-people", title: headcount(human, human) }, el("span", { class: "sort" }, "●"), String(human)) : null,
      total > human ? el("span", { class: "count of-agents", title: headcount(total - human, 0) }, el("span", { class: "sort" }, AGENT), String(total - human)) : null,
    ),
  );
  return el("div", { class: "reactions", hidden: chips.length === 0 }, chips);
}

/** What one can do about a message. A question that is open has its answers a click away. */
export function toolsOf(entry, view) {
  const tools = el("div", { class: "tools" });
  const tool = (label, title, act, more = {}) => el("button", { type: "button", class: "quiet", title, onclick: (event) => act(event.currentTarget), ...more }, label);
  const about = ` message ${entry.seq}`;
  if (view.mayWrite) {
    if (entry.kind === "question" && !view.isMe(entry.author) && !view.isConversation && view.isOpen(entry.seq)) {
      for (const words of ["Yes", "No"]) tools.append(tool(words, `Answer “${words}.”`, () => view.quickAnswer(entry, `${words}.`), { class: "quick", "aria-label": `Answer ${words} to${about}` }));
      tools.append(tool("Answer…", "Write an answer (a)", () => view.answer(entry), { class: "quick", "aria-label": `Write an answer to${about}` }));
    } else if (view.isConversation || entry.kind === "question") {
      tools.append(tool("Reply…", "Reply (a)", () => view.answer(entry), { "aria-label": `Reply to${about}` }));
    }
    tools.append(tool("React", "React (e)", () => view.openReactions(entry), { "aria-haspopup": "dialog", "aria-label": `React to${about}` }));
  }
  tools.append(
    tool("Delivery", "Who has got it (i)", () => view.openReceipts(entry), { "aria-haspopup": "dialog", "aria-label": `Delivery of${about}` }),
    tool("Link", "Copy the permanent link", (button) => view.copyLink(entry, button), { "aria-label": `Copy the link to${about}` }),
  );
  return tools;
}

function eventRow(entry, view) {
  const who = entry.author ?? entry.participant;
  return el(
    "article",
    { class: `row event ${entry.type} ${entry.reason}`, "data-seq": entry.seq, tabindex: "-1" },
    el("span", { class: "sign", "aria-hidden": "true" }, EVENT_SIGNS[entry.type] ?? "·"),
    nameOf(who),
    el("span", { class: "deed" }, ...deedOf(entry, view)),
    timeOf(entry.at),
  );
}

const EVENT_SIGNS = { member: "⇄", status: "◔", claim: "⚑", reaction: "+" };

function deedOf(entry, view) {
  const { type, reason } = entry;
  if (type === "member") return [reason === "joined" ? "joined" : "left"];
  if (type === "reaction") {
    const link = el("a", { href: view.linkTo(entry.message_id), "data-seq": entry.message_id }, `#${entry.message_id}`);
    return [`${reason === "added" ? "reacted" : "took back"} ${entry.reaction} to `, link];
  }
  if (type === "status") {
    const words = line(entry.status);
    if (reason === "set") return ["is ", words];
    return [{ cleared: "is done: ", expired: "ran out of time: ", left: "left: " }[reason] ?? "", words];
  }
  const key = el("span", { class: "key" }, line(entry.key));
  const did = { claimed: "claimed ", renewed: "renewed the claim on ", released: "released ", expired: "lost (time ran out) ", left: "left behind " };
  const held = reason === "claimed" || reason === "renewed";
  return [did[reason] ?? `${reason} `, key, held ? ` until ${clock(entry.expires_at)}` : ""];
}
