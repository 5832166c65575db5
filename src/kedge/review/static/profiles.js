// Both profiles side by side: equal parts marked, everything as text.
import { h, spelled } from "./dom.js";

// Only an address of the web can be opened, and only by the reviewer: until then it is text, so nothing is fetched.
function address(pieces) {
  try {
    const url = new URL(pieces.map((piece) => piece.text).join("").trim());
    return ["http:", "https:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

function opener(href, words) {
  const button = h("button", { type: "button", class: "quiet open", "aria-label": `Open ${words} in a new tab`, onclick: () => {
    const link = h("a", { href, target: "_blank", rel: "noopener noreferrer", referrerpolicy: "no-referrer" }, "Open again");
    button.replaceWith(link);
    link.click();
    link.focus();
  } }, "Open");
  return button;
}

function value(pieces, kind, words) {
  if (pieces === null) return h("span", { class: "muted" }, "not given");
  const long = pieces.reduce((sum, piece) => sum + piece.text.length, 0) > 300;
  const href = kind === "url" ? address(pieces) : null;
  // One element of its own direction around all pieces: marks must not cut a word of a right-to-left script in two.
  const text = h("bdi", { class: "value", dir: "auto" }, pieces.map((piece) => (piece.equal ? h("mark", {}, [...spelled(piece.text).childNodes]) : [...spelled(piece.text).childNodes])));
  return [h("div", long ? { class: "long", tabindex: 0, role: "region", "aria-label": words } : {}, text), href ? opener(href, words) : null];
}

function agreement(row) {
  if (row.left === null || row.right === null) return "";
  if (row.equal) return h("span", { class: "same" }, "= equal");
  const share = Math.round(row.similarity * 100);
  return row.similarity === null ? "" : h("span", { class: "muted" }, share === 100 ? "nearly equal" : `${share} % similar`);
}

export function profiles(pair) {
  if (!pair.profiles.length) return null;
  const rows = pair.profiles.map((row) => h("tr", {},
    h("th", { scope: "row" }, spelled(row.name), " ", agreement(row)),
    h("td", { class: "left" }, value(row.left, row.kind, `left ${row.name}`)),
    h("td", { class: "right" }, value(row.right, row.kind, `right ${row.name}`))));
  return h("section", { class: "card profiles" },
    h("h2", {}, "Profiles", h("span", { class: "hint" }, "equal parts are marked")),
    h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Field"), h("th", { scope: "col" }, "Left"), h("th", { scope: "col" }, "Right"))), h("tbody", {}, rows)));
}
