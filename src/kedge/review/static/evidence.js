// The way to the probability: from 0 to the pair's log-odds, one bar per neighbour; then rivals, and counterpart.
import { brief, h, percent, s, spelled } from "./dom.js";

const some = (n, words) => `${n} ${words.replace("neighbours", n === 1 ? "neighbour" : "neighbours")}`;
const WORDS = {
  other: (n) => `and ${some(n, "more matched neighbours")}, together`,
  possible: (n) => `${some(n, "neighbours")} whose match may be here`,
  missing_right: (n) => some(n, "left neighbours missing on the right"),
  missing_left: (n) => some(n, "right neighbours missing on the left"),
  profile: () => "numbers of neighbours compared",
  vectors: () => "similarity of the two vectors",
  profiles: () => "profiles of the two accounts",
  "vectors and profiles": () => "vectors and profiles of the two accounts",
  "purged values": () => "values of accounts that were purged since",
};

const signed = (x) => (x === 0 ? "" : x > 0 ? "+" : "−") + Math.abs(x).toFixed(2);
const sentence = (parts) => parts.map((part) => (part.id ? brief(part.text) : part.text));

// Steps 2 and 3: who the left account is if it has a counterpart, and whether it has one.
function rest({ title, shares, leads, counterpart }) {
  const [numbers, words] = counterpart;
  const rows = shares.map((line) => h("tr", {}, h("th", { scope: "row" }, sentence(line.words)),
    h("td", { class: "bars" }, s("svg", { class: "bar", "aria-hidden": "true", width: "100%", height: 14 }, s("rect", { class: "for", x: 0, y: 2, width: `${Math.max(line.share * 100, 0.6)}%`, height: 10, rx: 2 }))),
    h("td", { class: "figure" }, line.share.toFixed(3))));
  return [h("h3", {}, `2. ${title}`), h("table", {}, h("tbody", {}, rows)), leads.map((lead) => h("p", { class: "muted sub" }, sentence(lead))),
    h("h3", {}, "3. Counterpart"), h("p", { class: "product" }, sentence(numbers)), h("p", { class: "muted sub" }, sentence(words))];
}

export function waterfall(pair) {
  const { steps, total, unit, reordered } = pair.evidence;
  const number = new Map(pair.ego.joined.map((twin, i) => [`${twin.left.account} ${twin.right.account}`, i]));
  let at = 0;
  const bars = steps.map((step) => {
    const start = at;
    at += step.weight ?? 0;
    return { step, from: Math.min(start, at), to: Math.max(start, at) };
  });
  const low = Math.min(0, ...bars.map((bar) => bar.from));
  const high = Math.max(low + 1e-9, ...bars.map((bar) => bar.to), 0);
  const place = (x) => ((x - low) / (high - low)) * 100;
  const bar = (from, to, kind) =>
    s("svg", { class: "bar", "aria-hidden": "true", width: "100%", height: 14 },
      s("line", { class: "zero", x1: `${place(0)}%`, x2: `${place(0)}%`, y1: 0, y2: 14 }),
      s("rect", { class: kind, x: `${place(from)}%`, width: `${Math.max(place(to) - place(from), 0.6)}%`, y: 2, height: 10, rx: 2 }));
  const rows = bars.map(({ step, from, to }) => {
    const rung = step.kind === "neighbour" ? number.get(`${step.left.account} ${step.right.account}`) : undefined;
    const label = step.kind === "neighbour"
      ? [rung === undefined ? null : h("span", { class: `chip c${rung % 6}` }, rung + 1), brief(step.left.id), " ↔ ", brief(step.right.id),
          step.known ? null : h("span", { class: "muted" }, pair.blind ? "" : ` ${percent(step.belief)}`)]
      : step.kind === "field" ? [spelled(step.name), step.equal ? ", equal" : step.similarity === null ? "" : `, similarity ${step.similarity.toFixed(2)}`]
      : WORDS[step.kind](step.count);
    return h("tr", { class: step.kind === "neighbour" ? "neighbour" : null },
      h("th", { scope: "row" }, label),
      pair.blind ? null : h("td", { class: "bars" }, bar(from, to, step.weight < 0 ? "against" : "for")),
      pair.blind ? null : h("td", { class: "figure" }, signed(step.weight)));
  });
  if (!pair.blind) {
    rows.push(h("tr", { class: "total" }, h("th", { scope: "row" }, unit === "log-odds" ? "Log-odds" : "Sum"),
      h("td", { class: "bars" }, bar(Math.min(0, total), Math.max(0, total), "sum")), h("td", { class: "figure" }, signed(total))));
  }
  const title = unit === "log-odds" ? "1. Evidence for this pair" : "1. Shared known neighbours";
  const hint = pair.blind ? "weights hidden" : unit === "log-odds" ? "log-odds, one step per field and neighbour" : "rare neighbours count more; the score is not their sum";
  const table = steps.length ? h("table", {}, h("tbody", {}, rows)) : h("p", { class: "none" }, "The networks hold no evidence for or against this pair.");
  const order = reordered && !pair.blind ? h("p", { class: "muted sub" }, "Candidates are not ranked by log-odds alone: the score counts vector similarity and other signals too.") : null;
  return h("section", { class: "card evidence" }, h("h2", {}, "Why this probability"), h("h3", {}, title, " ", h("span", { class: "hint" }, hint)), table, order, pair.way ? rest(pair.way) : null);
}
