// Text that others wrote, as DOM nodes. Nothing here makes markup out of it: what looks like HTML stays letters, what is
// invisible or turns the writing direction is shown by its code point (UTS #55, "Source code handling"), and a link is only
// what begins with http: or https: and shows where it leads.

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}\u2065\ufff0-\ufff8\u{e0000}-\u{e0fff}]/u;
const VARIATION = /[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;
const PICTURE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]/u;
// Scripts that are misspelt without a (non-)joiner between two letters.
const JOINED = /[\p{Script=Arab}\p{Script=Syrc}\p{Script=Mong}\p{Script=Deva}\p{Script=Beng}\p{Script=Guru}\p{Script=Gujr}\p{Script=Orya}\p{Script=Taml}\p{Script=Telu}\p{Script=Knda}\p{Script=Mlym}\p{Script=Sinh}\p{Script=Khmr}\p{Script=Mymr}\p{Script=Tibt}]/u;
const JOINER = "\u200d";
const NON_JOINER = "\u200c";
const SPOKEN = {
  "\u00ad": "soft hyphen", "\u061c": "Arabic letter mark", "\u200b": "zero-width space", "\u200c": "zero-width non-joiner", "\u200d": "zero-width joiner",
  "\u200e": "left-to-right mark", "\u200f": "right-to-left mark", "\u2028": "line separator", "\u2029": "paragraph separator",
  "\u202a": "left-to-right embedding", "\u202b": "right-to-left embedding", "\u202c": "pop directional formatting",
  "\u202d": "left-to-right override", "\u202e": "right-to-left override", "\u2060": "word joiner", "\u2066": "left-to-right isolate",
  "\u2067": "right-to-left isolate", "\u2068": "first strong isolate", "\u2069": "pop directional isolate", "\ufeff": "byte order mark",
  "\u001b": "escape", "\u0007": "bell", "\u0008": "backspace", "\r": "carriage return", "\u007f": "delete",
};
// More marks than any script stacks on one letter; beyond them they climb over the neighbouring lines.
const MOST_MARKS = 6;
const MARK = /\p{M}/u;

/** One line (a name, a status, a key): an isolated span, so that its direction does not reach its neighbours. */
export function line(text) {
  const node = document.createElement("bdi");
  node.className = "words";
  node.append(...visible(String(text).replace(/\s*\n\s*/g, " ")));
  return node;
}

/** `line`, cut after `most` characters. */
export function excerpt(text, most) {
  return line(cut(text, most));
}

/** The first `most` characters (never half of one) with an ellipsis where there are more. */
export function cut(text, most) {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;
}

/**
 * A message's body: fences and backticks as code, links, `#57` as a reference, everything else as written.
 * `reference(seq)` gives the address of a message of the same room.
 */
export function prose(text, reference) {
  const root = document.createElement("div");
  root.className = "words prose";
  root.dir = "auto";
  const pieces = text.replace(/\r\n/g, "\n").split(/^ {0,3}```[^\n`]*\n([\s\S]*?)(?:^ {0,3}``` *$\n?|$(?![\s\S]))/m);
  pieces.forEach((piece, number) => {
    if (number % 2) {
      const block = document.createElement("pre");
      const code = document.createElement("code");
      block.tabIndex = 0;
      code.append(...visible(piece.replace(/\n$/, "")));
      block.append(code);
      root.append(block);
    } else if (piece.trim()) {
      root.append(...inline(number ? piece.replace(/^\n+|\n+$/g, "") : piece.replace(/\n+$/, ""), reference));
    }
  });
  return root;
}

/** A snippet of the search: the words of `query` stand between signs there and are marked; signs around others are the author's. */
export function marked(snippet, query) {
  const sought = new Set((query.match(/[\p{L}\p{N}]+/gu) ?? []).map(fold));
  const node = document.createElement("bdi");
  node.className = "words";
  for (const piece of snippet.split(/(⟦[^⟦⟧]*⟧)/)) {
    const word = /^⟦(.*)⟧$/s.exec(piece)?.[1];
    if (word !== undefined && sought.has(fold(word))) {
      const mark = document.createElement("mark");
      mark.append(...visible(word));
      node.append(mark);
    } else {
      node.append(...visible(piece));
    }
  }
  return node;
}

/** Alike for words that differ in case only; by way of capitals, since ß has two. */
function fold(word) {
  return word.toUpperCase().toLowerCase();
}

const TOKENS = /(`[^`\n]+`|https?:\/\/[^\s<>"'`]+|(?<![\p{L}\p{N}_#&/])#[1-9]\d{0,14}(?![\p{L}\p{N}_]))/iu;

function inline(text, reference) {
  return text.split(TOKENS).flatMap((piece, number) => {
    if (number % 2 === 0) return visible(piece);
    if (piece.startsWith("`")) {
      const code = document.createElement("code");
      code.append(...visible(piece.slice(1, -1)));
      return [code];
    }
    if (piece.startsWith("#")) return [reference ? messageLink(piece, reference) : piece];
    return link(piece);
  });
}

function messageLink(text, reference) {
  const anchor = document.createElement("a");
  anchor.href = reference(Number(text.slice(1)));
  anchor.dataset.seq = text.slice(1);
  anchor.textContent = text;
  return anchor;
}

/** Only what is a plain address: a hidden character ends it, a user's name before the host makes it none. */
function link(text) {
  const end = text.search(HIDDEN);
  let address = end < 0 ? text : text.slice(0, end);
  address = address.replace(/[.,:;!?]+$/, "");
  while (address.endsWith(")") && !address.includes("(")) address = address.slice(0, -1);
  const rest = text.slice(address.length);
  const url = safeUrl(address);
  if (!url) return visible(text);
  const anchor = document.createElement("a");
  anchor.href = url.href;
  anchor.rel = "noopener noreferrer nofollow";
  anchor.target = "_blank";
  anchor.title = url.href;
  anchor.append(...visible(address));
  // A host in other letters than it seems: what the address book of the net has for it says so.
  if (/[^\x00-\x7f]/.test(address.split("/")[2])) anchor.append(` (${url.hostname})`);
  return [anchor, ...visible(rest)];
}

function safeUrl(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  const plain = (url.protocol === "https:" || url.protocol === "http:") && !url.username && !url.password;
  return plain ? url : null;
}

/** Nodes for a text in which every hidden character shows; runs of the same one are counted, not repeated. */
function visible(text) {
  if (!text) return [];
  if (!HIDDEN.test(text) && !MARK.test(text)) return [document.createTextNode(text)];
  const nodes = [];
  const signs = Array.from(text);
  let plain = "";
  let marks = 0;
  for (let at = 0; at < signs.length; at += 1) {
    const sign = signs[at];
    marks = MARK.test(sign) ? marks + 1 : 0;
    const hidden = HIDDEN.test(sign) ? !harmless(signs, at) : marks > MOST_MARKS;
    if (!hidden) {
      plain += sign;
      continue;
    }
    let times = 1;
    while (signs[at + 1] === sign) {
      at += 1;
      times += 1;
    }
    if (plain) nodes.push(document.createTextNode(plain));
    plain = "";
    nodes.push(shown(sign, times));
  }
  if (plain) nodes.push(document.createTextNode(plain));
  return nodes;
}

function harmless(signs, at) {
  const sign = signs[at];
  const [before = "", after = ""] = [signs[at - 1], signs[at + 1]];
  if (sign === "\n" || sign === "\t") return true;
  if (VARIATION.test(sign)) return before.trim() !== "" && !HIDDEN.test(before);
  if (sign === JOINER) {
    const base = before === "\ufe0f" ? (signs[at - 2] ?? "") : before;
    return (PICTURE.test(base) && PICTURE.test(after)) || (JOINED.test(before) && JOINED.test(after));
  }
  return sign === NON_JOINER && JOINED.test(before) && JOINED.test(after);
}

function shown(sign, times) {
  const node = document.createElement("span");
  const code = `U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  node.className = "hidden-sign";
  node.textContent = times > 1 ? `${code} ×${times}` : code;
  node.title = SPOKEN[sign] ?? (MARK.test(sign) ? "combining mark" : "invisible character");
  return node;
}
