import { line } from "./text.js";
import { Announcer } from "./room/announcer.js";
import { RoomCalls } from "./room/calls.js";
import { Composer } from "./room/composer.js";
import { Alert, el } from "./room/dom.js";
import { Filters } from "./room/filters.js";
import { Happenings } from "./room/happenings.js";
import { Looked } from "./room/looked.js";
import { Panel } from "./room/panel.js";
import { ReactionsPopup, ReceiptsPopup } from "./room/popups.js";
import { OpenQuestions } from "./room/questions.js";
import { SearchPopup } from "./room/search.js";
import { GoToPopup, HelpPopup, onKeys } from "./room/shortcuts.js";
import { Transcript } from "./room/transcript.js";

/**
 * A room or a conversation; the answer has `close()`. `room` is a slug or an id, `seq` the message of a permanent
 * link or null, `me` the answer to `GET /me`.
 */
export async function showRoom(main, { room, seq = null, api, me, connection }) {
  const page = await api.call("GET", `/rooms/${encodeURIComponent(room)}`);
  const view = new RoomView(main, new RoomCalls(api, page.room, me), page, connection);
  view.open(seq);
  return view;
}

class RoomView {
  constructor(main, calls, page, connection) {
    this.calls = calls;
    this.connection = connection;
    this.page = page;
    calls.settle(page.members);
    this.looked = new Looked(calls);
    const { room } = calls;
    this.base = calls.isConversation ? `/page/conversations/${room.id}` : `/page/rooms/${encodeURIComponent(room.slug)}`;
    this.name = calls.isConversation ? page.members.filter((member) => !calls.isMe(member)).map((member) => member.name).join(" and ") : room.name;
    const rows = {
      linkTo: this.linkTo,
      isMe: (who) => calls.isMe(who),
      isConversation: calls.isConversation,
      isOpen: (seq) => this.questions.isOpen(seq),
      mayWrite: this.mayWrite,
      answer: (entry) => this.composer.answer(entry),
      quickAnswer: (entry, words) => this.quickAnswer(entry, words),
      openReactions: (entry) => this.reactions.show(entry),
      openReceipts: (entry) => this.receipts.show(entry),
      copyLink: (entry, button) => this.copyLink(entry, button),
    };
    this.alert = new Alert();
    this.transcript = new Transcript(calls, rows, { looked: this.looked.before(), changed: () => this.moved(), took: (events) => this.took(events) });
    this.transcript.head = room.latest_seq;
    this.announcer = new Announcer(rows.isMe);
    this.happenings = new Happenings({
      refreshRoom: () => this.refresh(),
      refreshReactions: (seq) => this.refreshReactions(seq),
      wanted: (seq) => this.transcript.entry(seq) || this.reactions.shown === seq,
    });
    this.questions = new OpenQuestions(calls, (open) => {
      this.panel.showQuestions(open);
      this.transcript.questionsChanged();
    });
    this.composer = new Composer(calls, {
      questionOf: async (seq) => this.transcript.entry(seq) ?? (await calls.read(`messages/${seq}`)).message,
      posted: () => this.wrote(),
    });
    this.panel = new Panel(calls, { openConversation: (id) => this.openConversation(id), linkTo: this.linkTo, changed: () => this.refresh() });
    this.reactions = new ReactionsPopup(calls, () => this.mayWrite, (seq) => this.refreshReactions(seq));
    this.receipts = new ReceiptsPopup(calls, this.linkTo);
    this.search = new SearchPopup(calls, this.linkTo);
    this.help = new HelpPopup();
    this.number = new GoToPopup((seq) => this.goTo(seq));
    this.filters = new Filters(calls, (filter) => this.filter(filter));
    this.build(main);
  }

  linkTo = (seq) => `${this.base}/${seq}`;

  get mayWrite() {
    return !this.calls.isConversation || this.calls.member !== null;
  }

  build(main) {
    const tool = (label, words, deed, more = {}) => el("button", { type: "button", class: "quiet", title: words, onclick: deed, ...more }, label);
    this.state = el("span", { class: "live", hidden: true, title: "What is said shows at once" }, "live");
    this.filterButton = tool("Filter", "Filter (f)", () => this.toggleFilters(), { "aria-expanded": "false" });
    this.panelButton = tool("People", "People, claims, questions (p)", () => this.togglePanel(), { class: "quiet panel-button", "aria-expanded": "false" });
    this.unreadButton = tool("↑ First unread", "First unread (u)", () => this.transcript.firstUnread(), { class: "pill up", hidden: true });
    this.endButton = tool("↓ Newest", "Newest (End)", () => this.transcript.end(), { class: "pill down", hidden: true });
    const heading = el("h1", {}, this.calls.isConversation ? "With " : "", line(this.name));
    this.root = el(
      "div",
      { class: "room-view" },
      el("header", { class: "room-head" }, el("div", { class: "title" }, heading, this.state), el("div", { class: "buttons", role: "group", "aria-label": "In this room" }, tool("Search", "Search (/)", () => this.search.show()), this.filterButton, tool("Go to #", "Go to a number (g)", () => this.number.show()), this.panelButton, tool("?", "Keys (?)", () => this.help.open("Keys"), { "aria-label": "Keys" }))),
      this.filters.node,
      this.alert.node,
      el("div", { class: "room-body" }, el("div", { class: "reading" }, this.unreadButton, this.transcript.node, this.endButton), this.panel.node),
      this.mayWrite ? this.composer.node : el("p", { class: "composer only-reading" }, "You read this conversation as the operator; its two members write in it."),
      this.announcer.node,
      [this.reactions, this.receipts, this.search, this.help, this.number].map(({ node }) => node),
    );
    this.root.addEventListener("click", (event) => this.clicked(event));
    this.unhook = onKeys(document, this.keys());
    this.onVisible = () => this.moved();
    document.addEventListener("visibilitychange", this.onVisible);
    this.ticking = setInterval(() => this.panel.tick(Date.now()), 1000);
    main.replaceChildren(this.root);
    this.title(0);
    this.showPanel();
  }

  keys() {
    const { transcript } = this;
    const about = (deed) => () => transcript.current?.type === "message" && deed(transcript.current);
    const [next, previous] = [() => transcript.list.step(1), () => transcript.list.step(-1)];
    return {
      j: next, k: previous, ArrowDown: next, ArrowUp: previous,
      End: () => transcript.end(), Home: () => transcript.beginning(),
      u: () => transcript.firstUnread(),
      a: about((entry) => this.mayWrite && this.composer.answerable(entry) && this.composer.answer(entry)),
      e: about((entry) => this.reactions.show(entry)),
      i: about((entry) => this.receipts.show(entry)),
      n: () => this.composer.begin(), q: () => this.composer.begin("question"),
      "/": () => this.search.show(), f: () => this.toggleFilters(), p: () => this.togglePanel(), g: () => this.number.show(),
      "?": () => this.help.open("Keys"),
      Escape: () => this.escape(),
    };
  }

  open(seq) {
    const { latest_seq: head } = this.calls.room;
    this.transcript.window.head = head;
    this.stream = this.calls.stream(head, {
      event: (event) => this.transcript.receive(event),
      gap: ({ from_seq: from, to_seq: to }) => this.alert.show({ detail: `#${from} to #${to} were removed by the room’s retention before they could be shown.` }),
      state: (state) => this.streamState(state),
      over: (error) => this.over(error),
    });
    if (seq === null) this.transcript.end(head);
    else this.goTo(seq, { remember: false });
    this.questions.load(head).catch(this.alert.show);
  }

  close() {
    this.stream.close();
    this.looked.close();
    clearInterval(this.ticking);
    document.removeEventListener("visibilitychange", this.onVisible);
    this.unhook();
    for (const part of [this.happenings, this.transcript, this.announcer, this.composer, this.search]) part.close();
    this.closed = true;
  }

  // What comes

  took(events) {
    this.announcer.take(events);
    this.questions.take(events);
    this.happenings.take(events);
    const { shown } = this.receipts;
    if (shown && events.some((event) => event.message_id === shown || event.reply_to === shown)) this.receipts.refresh();
    const { shown: reacted } = this.reactions;
    if (reacted && events.some((event) => event.message_id === reacted)) this.reactions.refresh(reacted);
  }

  streamState(state) {
    const isLive = state === "open";
    this.state.hidden = !isLive;
    this.connection.textContent = isLive ? "" : "The daemon is away, trying again…";
    if (isLive) this.happenings.roomChanged();
  }

  over(error) {
    // Numbers beyond the log's end: the database was restored from an older copy, and what is shown may not be there any more.
    if (error.code === "cursor_ahead" || error.code === "generation_changed") location.reload();
    else this.alert.show(error);
  }

  async refresh() {
    try {
      this.page = await this.calls.read("");
      if (this.closed) return;
      this.calls.settle(this.page.members);
      this.showPanel();
      this.receipts.refresh();
    } catch {
      // The stream's state says that the daemon is away; what was shown stays.
    }
  }

  showPanel() {
    this.panel.show(this.page, Date.now());
    this.filters.authors(this.page.members);
    const { member, name, acting } = this.calls;
    const as = acting === name ? name : `${name} (as ${acting}, since you are active in another room)`;
    this.composer.tell(member || this.calls.isConversation ? `As ${as}` : `Sending makes you a member, as ${as}`);
  }

  async refreshReactions(seq) {
    try {
      const { message } = await this.calls.read(`messages/${seq}`);
      this.transcript.react(seq, message.reactions);
    } catch {
      // Removed meanwhile, or the daemon is away: the counts stay as they were.
    }
  }

  // Where one is

  moved() {
    const { transcript } = this;
    const looking = document.visibilityState === "visible";
    if (transcript.following && looking && transcript.window.head) this.looked.upTo(transcript.window.head);
    this.unreadButton.hidden = !transcript.unreadAhead;
    this.endButton.hidden = transcript.following;
    this.endButton.textContent = transcript.below ? `↓ ${transcript.below} new` : "↓ Newest";
    this.title(looking ? 0 : transcript.window.head - (this.looked.seq ?? transcript.window.head));
  }

  title(news) {
    document.title = `${news > 0 ? `(${news}) ` : ""}${this.name}`;
  }

  async goTo(seq, { remember = true } = {}) {
    this.alert.clear();
    if (remember) history.pushState(null, "", this.linkTo(seq));
    const filtered = this.filters.narrow;
    const found = await this.transcript.goTo(seq);
    if (filtered && !this.transcript.filtered) this.filters.relax();
    if (found) return;
    const gone = seq < this.transcript.window.first ? "The room’s retention has removed it." : seq > this.transcript.window.head ? "Nothing of that number has been said yet." : "That number is a reaction or another small event.";
    this.alert.show({ detail: `#${seq} is not shown.`, recovery: gone });
  }

  filter(filter) {
    this.filterButton.classList.toggle("on", this.filters.narrow);
    return this.transcript.setFilter(filter);
  }

  toggleFilters() {
    const { node } = this.filters;
    node.hidden = !node.hidden;
    this.filterButton.setAttribute("aria-expanded", String(!node.hidden));
    if (!node.hidden) node.querySelector("input").focus();
  }

  togglePanel() {
    const open = this.root.classList.toggle("panel-open");
    this.panelButton.setAttribute("aria-expanded", String(open));
    if (open) this.panel.node.focus();
  }

  escape() {
    this.root.classList.remove("panel-open");
    this.panelButton.setAttribute("aria-expanded", "false");
    this.transcript.node.focus();
  }

  clicked(event) {
    const anchor = event.target.closest("a[data-seq]");
    if (!anchor || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    for (const dialog of this.root.querySelectorAll("dialog[open]")) dialog.close();
    this.root.classList.remove("panel-open");
    this.goTo(Number(anchor.dataset.seq));
  }

  // What one does

  async quickAnswer(entry, words) {
    this.alert.clear();
    try {
      await this.calls.quickAnswer(entry.seq, words);
      this.wrote();
    } catch (error) {
      this.transcript.list.refused(entry.seq, error);
    }
  }

  wrote() {
    if (!this.calls.member) this.happenings.roomChanged();
    this.transcript.end();
  }

  async openConversation(id) {
    const { conversation } = await this.calls.api.call("POST", "/conversations", { body: { with: id } });
    location.assign(`/page/conversations/${conversation.id}`);
  }

  async copyLink(entry, button) {
    const address = new URL(this.linkTo(entry.seq), location.href).href;
    try {
      await navigator.clipboard.writeText(address);
      this.announcer.say("Link copied");
      button.textContent = "Copied";
    } catch {
      history.pushState(null, "", address);
      button.textContent = "In the address bar";
    }
    setTimeout(() => (button.textContent = "Link"), 2000);
  }
}
