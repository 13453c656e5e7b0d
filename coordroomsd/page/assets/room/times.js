const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

/** A `<time>`: the clock for today, with the date for other days. */
export function timeOf(instant) {
  const date = new Date(instant);
  const node = document.createElement("time");
  node.dateTime = instant;
  node.title = FULL.format(date);
  node.textContent = date.toDateString() === new Date().toDateString() ? CLOCK.format(date) : `${DAY.format(date)} ${CLOCK.format(date)}`;
  return node;
}

export function clock(instant) {
  return CLOCK.format(new Date(instant));
}

/** "40 s", "5 min", "3 h", "2 d": whole units, rounded down. */
export function length(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

/** How much of a span is left, between 0 and 1. */
export function share(since, until, now) {
  const whole = Date.parse(until) - Date.parse(since);
  return whole > 0 ? Math.min(1, Math.max(0, (Date.parse(until) - now) / whole)) : 0;
}
