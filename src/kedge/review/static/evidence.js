// The evidence waterfall: from 0 to the pair's log-odds, one bar per neighbour.
import { h, name, percent, s } from "./dom.js";

const some = (n, words) => `${n} ${words.replace("neighbours", n === 1 ? "neighbour" : "neighbours")}`;
const WORDS = {
  other: (n) => some(n, "other shared neighbours"),
  missing_right: (n) => some(n, "left neighbours missing on the right"),
  missing_left: (n) => some(n, "right neighbours missing on the left"),
  profile: () => "numbers of neighbours compared",
  vectors: () => "similarity of the two vectors",
};

const signed = (x) => (Math.abs(x) < 0.05 ? "" : x > 0 ? "+" : "−") + Math.abs(x).toFixed(1);

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
      ? [rung === undefined ? null : h("span", { class: `chip c${rung % 6}` }, rung + 1), name(step.left.id), " ↔ ", name(step.right.id),
          step.known ? null : h("span", { class: "muted" }, pair.blind ? "" : ` ${percent(step.belief)}`)]
      : WORDS[step.kind](step.count);
    return h("tr", { class: step.kind },
      h("th", { scope: "row" }, label),
      pair.blind ? null : h("td", { class: "bars" }, bar(from, to, step.weight < 0 ? "against" : "for")),
      pair.blind ? null : h("td", { class: "figure" }, signed(step.weight)));
  });
  if (!pair.blind) {
    rows.push(h("tr", { class: "total" }, h("th", { scope: "row" }, unit === "log-odds" ? "Log-odds" : "Sum"),
      h("td", { class: "bars" }, bar(Math.min(0, total), Math.max(0, total), "sum")), h("td", { class: "figure" }, signed(total))));
  }
  const title = unit === "log-odds" ? "Evidence" : "Shared known neighbours";
  return h("section", { class: "card evidence" },
    h("h2", {}, title, h("span", { class: "hint" }, pair.blind ? "weights hidden" : unit === "log-odds" ? "log-odds, one step per neighbour" : "rare neighbours count more")),
    steps.length ? [h("table", {}, h("tbody", {}, rows)), unit === "log-odds" && !pair.blind ? h("p", { class: "muted sub after" }, "The probability also depends on the other candidates, and on how often such pairs were right among the validation anchors." + (reordered ? " Here candidates are not ranked by log-odds alone: vector similarity and other signals count too." : "")) : null] : h("p", { class: "none" }, "The networks hold no evidence for or against this pair."));
}
