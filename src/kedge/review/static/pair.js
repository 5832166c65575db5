// One pair: accounts, probability, evidence, candidates, and the answer.
import { badge, fill, h, name, neighbours, percent, plain, spelled } from "./dom.js";
import { egoNetworks, legend } from "./ego.js";
import { waterfall } from "./evidence.js";
import { profiles } from "./profiles.js";

function person(account, side) {
  return h("div", { class: `person ${side}` },
    h("span", { class: "tag", "aria-hidden": "true" }, side === "left" ? "L" : "R"),
    h("div", {}, h("h1", {}, h("span", { class: "hidden" }, side === "left" ? "Left account " : "Right account "), name(account.id)),
      h("p", { class: "muted" }, neighbours(account.degree))));
}

function sureness(pair, audit) {
  if (pair.known) return h("div", { class: "sure" }, h("b", {}, "known"), h("span", { class: "muted" }, "an anchor of this run"));
  if (pair.blind) return h("div", { class: "sure" }, h("b", { class: "veil" }, "blind"), h("span", { class: "muted" }, audit ? "scores are shown after your answer" : "scores are hidden"));
  if (pair.probability === null) return h("div", { class: "sure" }, h("b", {}, "–"), h("span", { class: "muted" }, pair.rejected ? "rejected by reviewers" : "not a candidate"));
  return h("div", { class: "sure" }, h("b", {}, percent(pair.probability)),
    h("meter", { min: 0, max: 1, value: pair.probability, "aria-label": `probability ${percent(pair.probability)}` }),
    h("span", { class: "muted" }, `rank ${pair.rank}, decision: ${pair.decision}`));
}

function warnings(pair) {
  return pair.warnings.map((w) => h("p", { class: "warning" }, h("b", {}, "⚠ "), name(w.id), " is already ",
    w.by === "anchor" ? "known to be " : "confirmed as ", name(w.partner), w.by === "anchor" ? " (an anchor of this run)." : ` (by ${plain(w.by)}).`));
}

function standing(pair) {
  return pair.standing.map((entry) => h("p", { class: "standing" }, badge(entry.action), h("b", {}, " ", spelled(entry.reviewer)),
    h("span", { class: "muted" }, ` ${entry.time.replace("T", " ").replace("Z", "")}`), entry.note ? h("q", {}, spelled(entry.note)) : null));
}

function choices(pair, go, audit) {
  const row = (choice, key, current, action) =>
    h("li", {}, h("button", { type: "button", class: "choice", "aria-current": current ? "true" : null, onclick: action },
      key ? h("kbd", {}, key) : null, name(choice.id), h("span", { class: "muted" }, neighbours(choice.degree)), badge(choice.verdict),
      choice.probability === null || choice.probability === undefined ? null
        : h("span", { class: "odds" }, h("meter", { min: 0, max: 1, value: choice.probability, "aria-hidden": "true" }), h("span", { class: "figure" }, percent(choice.probability)))));
  const candidates = pair.candidates.map((c, i) =>
    row(c, i < 9 ? i + 1 : "", c.account === pair.right.account, () => go(pair.left.account, c.account)));
  const rivals = pair.rivals.map((c) => row(c, "", false, () => go(c.account, pair.right.account)));
  return h("section", { class: "card choices" },
    h("h2", {}, "Candidates", h("span", { class: "hint" }, audit ? "to compare; only the pair of the sample is answered" : "select one to compare, then answer")),
    h("p", { class: "muted sub" }, "for ", name(pair.left.id)), h("ol", {}, candidates),
    rivals.length ? [h("p", { class: "muted sub" }, "other candidates for ", name(pair.right.id)), h("ol", {}, rivals)] : null);
}

// As many as the evidence has lines for: the others are one line there, and not drawn here.
function matched({ matched: all, joined }) {
  return `${all} matched with each other${all > joined.length ? `, ${joined.length} drawn` : ""}`;
}

export function showPair(place, pair, actions) {
  const drawing = h("div", { class: "drawing" });
  const answer = (verdict, key, word) =>
    h("button", { type: "button", class: `answer ${verdict}`, onclick: () => actions.decide(verdict), "aria-keyshortcuts": key },
      h("span", { class: "mark", "aria-hidden": "true" }, { yes: "✓", no: "✗", unsure: "?" }[verdict]), word, h("kbd", {}, key));
  const note = h("input", { id: "note", type: "text", maxlength: 2000, placeholder: "Note (M)", "aria-label": "Note", autocomplete: "off" });
  note.value = actions.note || "";
  note.addEventListener("input", () => actions.saveNote(note.value));
  fill(place,
    h("section", { class: "card head" },
      h("div", { class: "pair" }, person(pair.left, "left"), sureness(pair, actions.audit), person(pair.right, "right")),
      warnings(pair), standing(pair)),
    profiles(pair),
    h("div", { class: "columns" },
      h("section", { class: "card graph" },
        h("h2", {}, "Neighbours", h("span", { class: "hint" }, matched(pair.ego))), drawing, legend()),
      waterfall(pair),
      choices(pair, actions.go, actions.audit)),
    h("div", { class: "answers", role: "group", "aria-label": "Same person?" },
      !pair.asked ? h("div", { class: "inner" }, h("b", {}, "Not in the sample: an audit asks no other pairs."),
        h("a", { href: "/", "data-link": "" }, "Back to the audit")) :
      h("div", { class: "inner" },
        h("span", { class: "ask" }, "Same person?"),
        answer("yes", "Y", "Yes"), answer("no", "N", "No"), answer("unsure", "U", "Unsure"),
        note,
        h("button", { type: "button", class: "quiet", onclick: actions.skip }, "Skip", h("kbd", {}, "S")),
        h("button", { type: "button", class: "quiet", onclick: actions.undo }, "Undo", h("kbd", {}, "Z")))));
  const draw = () => fill(drawing, egoNetworks(pair, Math.max(300, Math.floor(drawing.clientWidth))));
  draw();
  let width = drawing.clientWidth;
  const watcher = new ResizeObserver(() => {
    if (!drawing.isConnected) watcher.disconnect();
    else if (drawing.clientWidth !== width) {
      width = drawing.clientWidth;
      draw();
    }
  });
  watcher.observe(drawing);
}
