// Making a room: whoever makes it is its first member.

import { newKey } from "../room/calls.js";
import { Alert, el } from "../room/dom.js";

export class NewRoom {
  constructor(api, me, go) {
    this.api = api;
    this.me = me;
    this.go = go;
    this.alert = new Alert();
    this.name = el("input", { name: "name", required: true, maxlength: 120, placeholder: "Name of a new room", "aria-label": "Name of a new room", autocomplete: "off" });
    const form = el("form", {}, this.name, el("button", {}, "Make it"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#make(this.name.value.trim());
    });
    this.node = el("div", { class: "new-room" }, form, this.alert.node);
  }

  async #make(name) {
    this.alert.clear();
    try {
      const { room } = await this.#made(name);
      this.go(`/page/rooms/${encodeURIComponent(room.slug)}`);
    } catch (error) {
      this.alert.show(error);
    }
  }

  async #made(name) {
    const call = { body: { name } };
    try {
      return await this.api.call("POST", "/rooms", call);
    } catch (error) {
      if (error.code !== "active_membership_conflict") throw error;
      // A participant is active in one room at a time; `<name>/…` is the same person beside that, whatever it ends in.
      const as = `${this.me.participant.conversation_id}/${newKey()}`;
      return this.api.call("POST", "/rooms", { ...call, as });
    }
  }
}
