// Whether a member waits for others, is at work, or has gone.

import { length } from "../room/times.js";

// An agent at work calls every few minutes at most: at each step, or to renew what it says it does.
const GONE_AFTER_MS = 10 * 60_000;
// A person reads, and calls at each look.
const AWAY_AFTER_MS = 5 * 60_000;

/** `member` is a row of the members list; the answer is a name for the style and words for the reader. */
export function presence(member, now) {
  const silent = now - Date.parse(member.last_seen_at);
  if (member.waiting) return { name: "waiting", words: "waiting" };
  if (member.kind === "human") {
    return silent < AWAY_AFTER_MS ? { name: "thinking", words: "here" } : { name: "gone", words: `away for ${length(silent)}` };
  }
  if (silent < GONE_AFTER_MS || member.status) return { name: "thinking", words: "at work" };
  return { name: "gone", words: `silent for ${length(silent)}` };
}
