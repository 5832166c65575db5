// Elements without markup: everything that comes from the data enters the page as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

function build(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export const h = (tag, properties, ...children) => build(document.createElement(tag), properties, children);
export const s = (tag, properties, ...children) => build(document.createElementNS(SVG, tag), properties, children);

// Characters that are invisible or reorder their neighbours: an id must not be able to look like another one, and a note
// must not be able to read other than it was written.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u202f]/gu;
const code = (c) => "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");

export const plain = (text) => text.replace(HIDDEN, (c) => "‹" + code(c) + "›");

export const shorten = (text, length) => {
  const letters = [...plain(text)];
  if (letters.length <= length) return letters.join("");
  const tail = Math.max(1, Math.floor(length / 3)); // long ids often differ in their last letters
  return letters.slice(0, Math.max(1, length - 1 - tail)).join("") + "…" + letters.slice(-tail).join("");
};

// Text as an element of its own direction, with what is hidden made visible.
export function spelled(text) {
  const parts = [];
  let last = 0;
  for (const found of text.matchAll(HIDDEN)) {
    parts.push(text.slice(last, found.index), h("span", { class: "odd" }, code(found[0])));
    last = found.index + found[0].length;
  }
  parts.push(text.slice(last));
  return h("bdi", {}, parts);
}

export function name(text) {
  const id = spelled(text);
  id.classList.add("id");
  if (text === "") id.append(h("span", { class: "odd" }, "empty"));
  return id;
}

// A long id with its middle cut out, for lists: the last letters of long ids often differ. Whole where one looks at it.
export function brief(text, length = 44) {
  const letters = [...text];
  if (letters.length <= length) return name(text);
  const tail = Math.floor(length / 3);
  return h("bdi", { class: "id", title: plain(text) }, spelled(letters.slice(0, length - 1 - tail).join("")), "…", spelled(letters.slice(-tail).join("")));
}

export const percent = (p) => (p === null || p === undefined ? "–" : p > 0 && p < 0.01 ? "<1 %" : p < 1 && p > 0.99 ? ">99 %" : `${Math.round(p * 100)} %`);
export const count = (n) => n.toLocaleString("en");
export const neighbours = (n) => `${count(n)} neighbour${n === 1 ? "" : "s"}`;
export const MARKS = { yes: "✓", no: "✗", unsure: "?", disputed: "≠", undo: "↶", purge: "∅" };

export function badge(verdict, extra) {
  return verdict ? h("span", { class: `badge ${verdict}` }, `${MARKS[verdict]} ${verdict}`, extra || "") : "";
}

export function fill(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false && c !== ""));
}

export const random = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
};
