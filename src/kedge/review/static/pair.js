// One pair: accounts, probability, evidence, candidates, and the answer.
import { badge, brief, fill, h, name, neighbours, percent, plain, spelled } from "./dom.js";
import { egoNetworks, legend } from "./ego.js";
import { keyOf } from "./keys.js";
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

// None of the candidates: any account of the right network, found by a part of its id, becomes the one that is compared.
function elsewhere(pair, actions) {
  const list = h("ol", { class: "others" });
  const box = h("input", { id: "other", type: "search", maxlength: 200, autocomplete: "off", spellcheck: "false", placeholder: `Part of its id (${keyOf("other").toUpperCase()})` });
  const found = h("p", { class: "muted sub", role: "status" });
  const form = h("form", { class: "elsewhere", role: "search" }, h("label", { for: "other" }, "None of these? Any right account:"), box, h("button", { type: "submit", class: "quiet" }, "Search"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!box.value.trim()) return;
    const hits = await actions.search(box.value.trim());
    if (!hits) return;
    fill(found, hits.length ? `${hits.length === 20 ? "the first 20" : hits.length} found: select one to compare, then answer` : "no right account has this in its id");
    fill(list, hits.map((one) => h("li", {}, h("button", { type: "button", class: "choice", onclick: () => actions.go(pair.left.account, one.account) },
      brief(one.id), h("span", { class: "muted" }, neighbours(one.degree)), one.known ? h("span", { class: "muted" }, "has a known partner") : null))));
  });
  return [form, found, list];
}

function choices(pair, actions) {
  const { go, audit } = actions;
  const row = (choice, key, current, action) =>
    h("li", {}, h("button", { type: "button", class: "choice", "aria-current": current ? "true" : null, onclick: action },
      key ? h("kbd", {}, key) : null, brief(choice.id), h("span", { class: "muted" }, neighbours(choice.degree)), badge(choice.verdict),
      choice.probability === null || choice.probability === undefined ? null
        : h("span", { class: "odds" }, h("meter", { min: 0, max: 1, value: choice.probability, "aria-hidden": "true" }), h("span", { class: "figure" }, percent(choice.probability)))));
  const candidates = pair.candidates.map((c, i) =>
    row(c, i < 9 ? i + 1 : "", c.account === pair.right.account, () => go(pair.left.account, c.account)));
  const rivals = pair.rivals.map((c) => row(c, "", false, () => go(c.account, pair.right.account)));
  return h("section", { class: "card choices" },
    h("h2", {}, "Candidates", h("span", { class: "hint" }, audit ? "to compare; only the pair of the sample is answered" : "select one to compare, then answer")),
    h("p", { class: "muted sub" }, "for ", brief(pair.left.id)), h("ol", {}, candidates),
    rivals.length ? [h("p", { class: "muted sub" }, "other candidates for ", brief(pair.right.id)), h("ol", {}, rivals)] : null,
    elsewhere(pair, actions));
}

// As many as the evidence has lines for: the others are one line there, and not drawn here.
function matched({ matched: all, joined }) {
  return `${all} matched with each other${all > joined.length ? `, ${joined.length} drawn` : ""}`;
}

export function showPair(place, pair, actions) {
  const drawing = h("div", { class: "drawing" });
  const shown = (action) => keyOf(action).toUpperCase();
  const answer = (verdict, word) =>
    h("button", { type: "button", class: `answer ${verdict}`, onclick: () => actions.decide(verdict), "aria-keyshortcuts": shown(verdict) },
      h("span", { class: "mark", "aria-hidden": "true" }, { yes: "✓", no: "✗", unsure: "?" }[verdict]), word, h("kbd", {}, shown(verdict)));
  const note = h("input", { id: "note", type: "text", maxlength: 2000, placeholder: `Note (${shown("note")})`, "aria-label": "Note", autocomplete: "off" });
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
      choices(pair, actions)),
    h("div", { class: "answers", role: "group", "aria-label": "Same person?" },
      !pair.asked ? h("div", { class: "inner" }, h("b", {}, "Not in the sample: an audit asks no other pairs."),
        h("a", { href: "/", "data-link": "" }, "Back to the audit")) :
      h("div", { class: "inner" },
        h("span", { class: "ask" }, "Same person?"),
        answer("yes", "Yes"), answer("no", "No"), answer("unsure", "Unsure"),
        note,
        h("button", { type: "button", class: "quiet", onclick: actions.skip }, "Skip", h("kbd", {}, shown("skip"))),
        h("button", { type: "button", class: "quiet", onclick: actions.undo }, "Undo", h("kbd", {}, shown("undo"))))));
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
