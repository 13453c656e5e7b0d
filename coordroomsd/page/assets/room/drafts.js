import { newKey } from "./calls.js";

const PREFIX = "coordrooms:draft:";
// Beyond this many, the oldest drafts of other rooms go.
const MOST_DRAFTS = 50;

/**
 * What is being written in a room, kept in the browser until it is sent. A draft has one key for its life, the same in every tab:
 * sent twice, it makes one message. Once it was tried and then changed it is another message and gets another key.
 */
export class Draft {
  constructor(name, roomId) {
    this.place = `${PREFIX}${name}:${roomId}`;
    this.load();
  }

  load() {
    this.kind = null;
    this.body = "";
    this.replyTo = null;
    this.key = newKey();
    this.tried = false;
    try {
      const { kind = null, body = "", replyTo = null, key = this.key, tried = false } = JSON.parse(localStorage.getItem(this.place)) ?? {};
      Object.assign(this, { kind, body, replyTo, key, tried });
    } catch {
      // Storage that is full, forbidden or not ours is as good as empty.
    }
  }

  change(changes) {
    const differs = Object.entries(changes).some(([name, value]) => this[name] !== value);
    if (!differs) return;
    Object.assign(this, changes);
    if (this.tried) {
      this.key = newKey();
      this.tried = false;
    }
    this._save();
  }

  sending() {
    this.tried = true;
    this._save();
  }

  /** Forget what was sent, unless something else was written meanwhile. */
  sent(key) {
    if (key !== this.key) return;
    Object.assign(this, { body: "", replyTo: null, kind: null, key: newKey(), tried: false });
    this._save();
  }

  get empty() {
    return this.body === "" && this.replyTo === null;
  }

  _save() {
    try {
      if (this.empty) localStorage.removeItem(this.place);
      else {
        const { kind, body, replyTo, key, tried } = this;
        localStorage.setItem(this.place, JSON.stringify({ kind, body, replyTo, key, tried, at: Date.now() }));
        forgetOldest(this.place);
      }
    } catch {
      // Then the draft lives as long as the page.
    }
  }
}

function forgetOldest(kept) {
  const places = Object.keys(localStorage).filter((place) => place.startsWith(PREFIX) && place !== kept);
  if (places.length < MOST_DRAFTS) return;
  const ages = places.map((place) => [JSON.parse(localStorage.getItem(place))?.at ?? 0, place]).sort(([one], [other]) => one - other);
  for (const [, place] of ages.slice(0, places.length - MOST_DRAFTS + 1)) localStorage.removeItem(place);
}
