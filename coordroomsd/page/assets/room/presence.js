// Whether a member waits for others, is at work, or has gone.

import { length } from "./times.js";

// An agent at work calls every few minutes at most: at each step, or to renew what it says it does.
const AGENT_GONE_AFTER_MS = 10 * 60_000;
// A person reads, and calls at each look.
const PERSON_GONE_AFTER_MS = 5 * 60_000;

/** `member` is a row of the members list; the answer is a name for the style and words for the reader. */
export function presence(member, now) {
  if (member.waiting) return { name: "waiting", words: "waiting" };
  const isPerson = member.kind === "human";
  const silent = member.last_seen_at === null ? Infinity : now - Date.parse(member.last_seen_at);
  const isThere = silent <= (isPerson ? PERSON_GONE_AFTER_MS : AGENT_GONE_AFTER_MS);
  if (isThere && isPerson) return { name: "here", words: "here" };
  if (isThere || member.status) return { name: "thinking", words: "thinking" };
  return { name: "gone", words: silent === Infinity ? "gone" : `gone ${length(silent)}` };
}
