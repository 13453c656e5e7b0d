// Server-sent events from bytes (WHATWG HTML, "Server-sent events"). EventSource itself can send no header, and the session
// needs one.

export class EventReader {
  #decoder = new TextDecoder();
  // Pieces of the line that has not ended: one event may be a megabyte in many chunks.
  #pieces = [];
  #name = "";
  #id = null;
  #data = [];

  /** The events that are whole with these bytes: `{name, id, data}`; an unnamed one is called `message`. */
  feed(bytes) {
    const found = [];
    const lines = this.#decoder.decode(bytes, { stream: true }).split("\n");
    const last = lines.pop();
    for (const line of lines) {
      this.#pieces.push(line);
      const event = this.#take(this.#pieces.join(""));
      this.#pieces = [];
      if (event) found.push(event);
    }
    if (last) this.#pieces.push(last);
    return found;
  }

  #take(line) {
    if (line === "") {
      const event = this.#data.length ? { name: this.#name || "message", id: this.#id, data: this.#data.join("\n") } : null;
      this.#name = "";
      this.#data = [];
      return event;
    }
    const colon = line.indexOf(":");
    if (colon <= 0) return null;
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (line.startsWith("data:")) this.#data.push(value);
    else if (line.startsWith("event:")) this.#name = value;
    else if (line.startsWith("id:")) this.#id = value;
    return null;
  }
}
