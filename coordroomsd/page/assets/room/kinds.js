// How kinds of messages and events are told apart: a sign and a word each; colour comes on top (room.css).

export const SIGNS = {
  decision: "◆", warning: "▲", question: "?", answer: "↳", status: "●", note: "●", progress: "◔", result: "◆",
};
export const ROOM_KINDS = ["status", "question", "decision", "warning", "answer"];
export const CONVERSATION_KINDS = ["note", "question", "progress", "result"];

// Signs that every system has a glyph for; emoji are not.
export const REACTIONS = [
  { name: "ack", sign: "✓" },
  { name: "agree", sign: "+" },
  { name: "decline", sign: "−" },
  { name: "like", sign: "☺" },
  { name: "love", sign: "♥" },
  { name: "fire", sign: "✶" },
  { name: "ok", sign: "☑" },
];
export const REACTION_SIGNS = Object.fromEntries(REACTIONS.map(({ name, sign }) => [name, sign]));

// What a row can be filtered by: the kinds of messages, and the other types of events.
export const EVENT_GROUPS = [
  { name: "member", label: "comings and goings" },
  { name: "status", label: "what they are doing" },
  { name: "claim", label: "claims" },
  { name: "reaction", label: "reactions" },
];

export const PERSON = "●";
export const AGENT = "◇";

/** The sign before a name, with its word for those who do not see it. */
export function kindOfParticipant(kind) {
  return kind === "human" ? { sign: PERSON, word: "person" } : { sign: AGENT, word: "agent" };
}

/** 2 agents, 1 person. */
export function headcount(total, human) {
  const agents = total - human;
  const parts = [];
  if (human) parts.push(human === 1 ? "1 person" : `${human} people`);
  if (agents) parts.push(agents === 1 ? "1 agent" : `${agents} agents`);
  return parts.join(", ") || "nobody";
}
