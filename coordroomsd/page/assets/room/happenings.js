// What the room's stream tells, turned into what has to be asked anew: counts of reactions, and who is here with what.

const SOON_MS = 200;
// Who waits and who was seen last changes without an event.
const NOW_AND_THEN_MS = 10_000;
const AT_ONCE = 4;

export class Happenings {
  /** `refreshRoom()` and `refreshReactions(seq)` ask the daemon; each is called seldom enough, whatever happens. */
  constructor({ refreshRoom, refreshReactions, wanted }) {
    this.refreshRoom = refreshRoom;
    this.refreshReactions = refreshReactions;
    this.wanted = wanted;
    this.reacted = new Set();
    this.regular = setInterval(() => {
      if (document.visibilityState === "visible") this.roomChanged();
    }, NOW_AND_THEN_MS);
  }

  close() {
    clearInterval(this.regular);
    clearTimeout(this.roomTimer);
    clearTimeout(this.reactionTimer);
    this.closed = true;
  }

  take(events) {
    for (const { type, message_id: seq } of events) {
      if (type === "reaction") this.reactionsChanged(seq);
      else if (type !== "message") this.roomChanged();
    }
  }

  roomChanged() {
    this.roomTimer ??= setTimeout(async () => {
      await this.refreshRoom();
      this.roomTimer = undefined;
    }, SOON_MS);
  }

  reactionsChanged(seq) {
    this.reacted.add(seq);
    this.reactionTimer ??= setTimeout(() => this._reactions(), SOON_MS);
  }

  async _reactions() {
    const seqs = [...this.reacted].filter(this.wanted);
    this.reacted.clear();
    while (seqs.length && !this.closed) await Promise.all(seqs.splice(0, AT_ONCE).map(this.refreshReactions));
    this.reactionTimer = undefined;
    if (this.reacted.size && !this.closed) this.reactionTimer = setTimeout(() => this._reactions(), SOON_MS);
  }
}
