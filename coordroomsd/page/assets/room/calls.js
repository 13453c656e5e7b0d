// The calls that a room's view makes, in the name of whoever looks at it.

/**
 * One room, as one person calls it. `api` is the page's; `me` is the answer to `GET /me`.
 *
 * A participant is active in one room at a time. Somebody who is active elsewhere takes part here as `<name>/<the room's id>`,
 * which bears the same name and may be active beside it; so nobody leaves a room, and loses claims, by answering in another.
 */
export class RoomCalls {
  constructor(api, room, me) {
    this.api = api;
    this.room = room;
    this.me = me;
    this.name = me.participant.conversation_id;
    this.acting = this.name;
  }

  get isConversation() {
    return this.room.kind !== "room";
  }

  /** The path of the room's own calls. */
  path(rest = "") {
    return `/rooms/${encodeURIComponent(this.room.id)}${rest && `/${rest}`}`;
  }

  isMe(who) {
    return who !== null && who !== undefined && (who.conversation_id === this.name || who.conversation_id.startsWith(`${this.name}/`));
  }

  read(rest, signal) {
    return this.api.call("GET", this.path(rest), { as: this.acting, signal });
  }

  everywhere(path, signal) {
    return this.api.call("GET", path, { as: this.acting, signal });
  }

  /** Who of one's own ids is in this room; what is done here is done as that one. */
  settle(members) {
    const own = members.filter((member) => this.isMe(member) && (this.isConversation || member.state === "active"));
    this.member = own.find((member) => member.conversation_id === this.acting) ?? own[0] ?? null;
    if (this.member) this.acting = this.member.conversation_id;
    return this.member;
  }

  async join() {
    try {
      await this.write("POST", this.path("join"), {});
    } catch (error) {
      if (error.code !== "active_membership_conflict" || this.acting !== this.name) throw error;
      this.acting = `${this.name}/${this.room.id}`;
      await this.write("POST", this.path("join"), {});
    }
  }

  async leave() {
    await this.write("POST", this.path("leave"), {});
    this.member = null;
  }

  /** An act in the room, by a member: who is none joins first. */
  async act(method, rest, options = {}) {
    if (!this.member && !this.isConversation) await this.join();
    try {
      return await this.write(method, this.path(rest), options);
    } catch (error) {
      // Left in another tab or by a command meanwhile.
      if (this.isConversation || !["membership_not_found", "active_membership_not_found"].includes(error.code)) throw error;
      await this.join();
      return this.write(method, this.path(rest), options);
    }
  }

  /** `key` makes the message one, however often it is sent. */
  post({ kind, body, replyTo }, key) {
    const message = { kind, body, ...(replyTo ? { reply_to: replyTo } : {}) };
    if (this.isConversation) {
      return this.write("POST", `/conversations/${encodeURIComponent(this.room.id)}/messages`, { body: message, key });
    }
    return this.act("POST", "messages", { body: { messages: [message] }, key });
  }

  /** The same answer to the same question is one message, however often, and wherever, it is clicked. */
  quickAnswer(seq, words) {
    return this.post({ kind: "answer", body: words, replyTo: seq }, `page-answer-${seq}-${words}`);
  }

  react(seq, reaction, add) {
    return this.act(add ? "PUT" : "DELETE", `messages/${seq}/reactions/${reaction}`);
  }

  /**
   * The room's log from `afterSeq` on, until `close()`. Whoever leaves the room goes on reading it as a person does; `over(error)`
   * when there is nothing more to read: the numbers are of another database, or one may not read here.
   */
  stream(afterSeq, { event, gap, state, over }) {
    let current;
    const begin = (after) => {
      current = this.api.stream(this.path("events"), after, {
        event, gap, state,
        end: (error) => (error.code === "active_membership_not_found" ? begin(current.lastSeq) : over(error)),
      });
    };
    begin(afterSeq);
    return { close: () => current.close() };
  }

  write(method, path, options = {}) {
    return this.api.call(method, path, { as: this.acting, ...options });
  }
}

/** 122 random bits; `crypto.randomUUID` is there in secure contexts only. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
