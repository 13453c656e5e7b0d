// How far one has looked into a room, in this browser; for a member the daemon is told too.

const PAUSE_MS = 800;
const PREFIX = "coordrooms:seen:";

export class Looked {
  constructor(calls) {
    this.calls = calls;
    this.place = `${PREFIX}${calls.room.id}`;
  }

  /** The number up to which everything was looked at before; 0 when one was never here. */
  before() {
    const known = Number(this._stored()) || 0;
    const { member } = this.calls;
    return Math.max(known, member ? (known ? member.cursor : member.last_seen_seq) : 0);
  }

  upTo(seq) {
    if (seq <= (this.seq ?? 0)) return;
    this.seq = seq;
    this.timer ??= setTimeout(() => this._keep(), PAUSE_MS);
  }

  close() {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this._keep();
  }

  _stored() {
    try {
      return localStorage.getItem(this.place);
    } catch {
      return null;
    }
  }

  async _keep() {
    this.timer = undefined;
    const { seq } = this;
    try {
      if (seq > (Number(this._stored()) || 0)) localStorage.setItem(this.place, String(seq));
    } catch {
      // Without storage there is no "since I last looked"; all else goes on.
    }
    if (!this.calls.member) return;
    try {
      await this.calls.write("POST", "/cursor", { body: { cursors: { [this.calls.room.id]: seq } } });
    } catch {
      // The next look tells it again.
    }
  }
}
