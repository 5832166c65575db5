// The queue, the search, the history and the progress.
import { badge, count, fill, h, name, neighbours, percent, s, spelled } from "./dom.js";

const link = (left, right, ...children) => h("a", { href: `/?left=${left}&right=${right}`, "data-link": "" }, children);
const both = (left, right) => [name(left.id ?? left), h("span", { class: "muted" }, " ↔ "), name(right.id ?? right)];
const select = (id, value, options) =>
  h("select", { id, name: id }, Object.entries(options).map(([key, words]) => h("option", { value: key, selected: key === value }, words)));
const field = (words, control) => h("label", { class: "field" }, h("span", {}, words), control);

function pages(total, offset, limit, go) {
  if (total <= limit) return null;
  return h("div", { class: "pages" },
    h("button", { type: "button", class: "quiet", disabled: offset === 0, onclick: () => go(Math.max(0, offset - limit)) }, "Previous"),
    h("span", { class: "muted" }, `${count(offset + 1)}–${count(Math.min(offset + limit, total))} of ${count(total)}`),
    h("button", { type: "button", class: "quiet", disabled: offset + limit >= total, onclick: () => go(offset + limit) }, "Next"));
}

export function showQueue(place, answer, query, go, blinded, audit) {
  const blind = blinded || audit;
  const form = h("form", { class: "filters" },
    field("Status", select("status", query.status || "open", { open: "not decided yet", second: "needs my second opinion", decided: "decided", unsure: "unsure", disputed: "disputed", all: "all" })),
    audit ? null : [field("Decision of the run", select("decision", query.decision || "", { "": "any", match: "match", review: "review", "no match": "no match" })),
    field("Probability from", h("input", { name: "least", type: "number", min: 0, max: 1, step: 0.05, value: query.least || "0" })),
    field("to", h("input", { name: "most", type: "number", min: 0, max: 1, step: 0.05, value: query.most || "1" }))],
    field("Id contains", h("input", { name: "q", type: "search", value: query.q || "", spellcheck: "false" })),
    h("button", { class: "quiet", type: "submit" }, "Show"));
  const chosen = () => Object.fromEntries([...new FormData(form)].filter(([k, v]) => v !== "" && !(k === "least" && Number(v) === 0) && !(k === "most" && Number(v) === 1)));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go("/queue", chosen());
  });
  form.addEventListener("change", () => form.requestSubmit());
  const rows = answer.pairs.map((row) => h("tr", {},
    h("td", { class: "wide" }, link(row.left.account, row.right.account, both(row.left, row.right))),
    blind ? null : [h("td", { class: "figure" }, percent(row.probability)), h("td", {}, row.decision), h("td", { class: "figure worth", title: "uncertainty × impact" }, row.information.toFixed(2))],
    h("td", {}, badge(row.verdict))));
  fill(place, h("section", { class: "card page" },
    h("div", { class: "title" }, h("h1", {}, audit ? "Sample" : "Queue"), h("span", { class: "muted" }, `${count(answer.total)} pairs, ${audit ? "in random order" : "the most informative first"}`),
      h("button", { type: "button", class: "primary", disabled: !answer.total, onclick: () => go("/", chosen()) }, "Review these")),
    form,
    rows.length ? h("table", { class: "list" },
      h("thead", {}, h("tr", {}, h("th", {}, "Pair"), blind ? null : [h("th", { class: "figure" }, "Probability"), h("th", {}, "Decision"), h("th", { class: "figure" }, "Information")], h("th", {}, "Verdict"))),
      h("tbody", {}, rows)) : h("p", { class: "none" }, "No pair passes these filters."),
    pages(answer.total, answer.offset, answer.limit, (offset) => go("/queue", { ...chosen(), offset }))));
}

export function showSearch(place, answer) {
  const list = (side, words) => h("section", { class: "card page" },
    h("h2", {}, words, h("span", { class: "hint" }, answer[side].length === 20 ? "the first 20 shown" : `${answer[side].length || "none"} found`)),
    h("ul", { class: "found" }, answer[side].map((one) => {
      const degree = h("span", { class: "muted" }, ` ${neighbours(one.degree)},`);
      if (!one.partner) return h("li", {}, name(one.id), degree, h("span", { class: "muted" }, " no candidate"));
      const [left, right] = side === "left" ? [one.account, one.partner.account] : [one.partner.account, one.account];
      return h("li", {}, link(left, right, name(one.id)), degree, h("span", { class: "muted" }, one.known ? " known: " : " best candidate: "), name(one.partner.id));
    })));
  fill(place, h("div", { class: "title" }, h("h1", {}, "Accounts whose id contains “", name(answer.text), "”")), h("div", { class: "halves" }, list("left", "Left network"), list("right", "Right network")));
}

function about(e) {
  if (e.forgotten) return h("span", { class: "muted" }, "text deleted on request");
  if (e.action === "purge") return h("span", { class: "muted" }, `deleted the text of ${JSON.parse(e.note).join(", ")}`);
  const pair = both(e.left, e.right);
  return [e.accounts ? link(e.accounts.left, e.accounts.right, pair) : [pair, h("span", { class: "muted" }, " not in this run")], e.note ? h("q", {}, spelled(e.note)) : null];
}

export function showHistory(place, answer, query, me, go, undo, blind) {
  const rows = answer.entries.map((e) => h("tr", { class: e.undone_by ? "undone" : "" },
    h("td", { class: "figure" }, e.seq),
    h("td", { class: "muted when" }, e.time.replace("T", " ").replace("Z", "")),
    h("td", {}, spelled(e.reviewer)),
    h("td", {}, badge(e.action, e.undoes ? ` of ${e.undoes}` : "")),
    h("td", { class: "wide" }, about(e)),
    h("td", {}, e.undone_by ? h("span", { class: "muted" }, `undone (${e.undone_by})`)
      : e.reviewer === me && !e.forgotten && ["yes", "no", "unsure"].includes(e.action) ? h("button", { type: "button", class: "quiet", onclick: () => undo(e.seq), "aria-label": `Undo decision ${e.seq}` }, "Undo") : "")));
  const filter = h("input", { type: "search", id: "historyfilter", value: query.q || "", spellcheck: "false" });
  const form = h("form", { class: "filters" }, field("Id or note contains", filter), h("button", { type: "submit", class: "quiet" }, "Show"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go("/history", filter.value ? { q: filter.value } : {});
  });
  fill(place, h("section", { class: "card page" },
    h("div", { class: "title" }, h("h1", {}, "History"), h("span", { class: "muted" }, `${count(answer.total)} entries, ${blind ? "only yours: blind mode hides the others’" : "none is ever removed"}`)),
    answer.contradictions.map((c) => h("p", { class: "warning" }, h("b", {}, "⚠ "), name(c.id), ` (${c.side}) is confirmed with `,
      c.partners.map((p, i) => [i ? " and " : "", name(p)]), ": none of these pairs is used until one is undone.")),
    form,
    rows.length ? h("table", { class: "list" }, h("thead", {}, h("tr", {}, ["#", "When (UTC)", "Who", "What", "Pair", ""].map((w) => h("th", { class: w === "#" ? "figure" : "" }, w || h("span", { class: "hidden" }, "Undo"))))), h("tbody", {}, rows))
      : h("p", { class: "none" }, "Nothing has been decided yet."),
    pages(answer.total, answer.offset, answer.limit, (offset) => go("/history", { ...query, offset })),
    h("p", { class: "muted chain" }, "Head of the hash chain: ", h("code", {}, answer.head))));
}

const AGREEMENT = (k) => (k === null ? "not defined" : k > 0.8 ? "almost perfect" : k > 0.6 ? "substantial" : k > 0.4 ? "moderate" : k > 0.2 ? "fair" : k >= 0 ? "slight" : "worse than chance");

export function towards(p) {
  if (p.precision_now === null) return "No pair is a match yet.";
  const now = `expected precision ${percent(p.precision_now)}`;
  if (p.more === 0) return `${now}: the target of ${percent(p.target)} is reached`;
  return p.more === null ? `${now}; the target of ${percent(p.target)} cannot be reached by this queue` : `${now}, target ${percent(p.target)}: about ${count(p.more)} more answers`;
}

export function gauge(p) {
  const x = (v) => `${(v ?? 0) * 100}%`;
  return s("svg", { class: "gauge", width: "100%", height: 10, role: "img", "aria-label": towards(p) },
    s("rect", { class: "rail", width: "100%", height: 6, y: 2, rx: 3 }),
    s("rect", { class: "now", width: x(p.precision_now), height: 6, y: 2, rx: 3 }),
    s("rect", { class: "before", x: x(p.precision_before), width: 2, height: 6, y: 2 }),
    s("rect", { class: "target", x: x(p.target), width: 2, height: 10 }));
}

export function answered(p) {
  const share = p.queue ? `${(100 * p.decided) / p.queue}%` : "0%";
  return s("svg", { class: "gauge", width: "100%", height: 10, role: "img", "aria-label": `${count(p.decided)} of ${count(p.queue)} pairs answered` },
    s("rect", { class: "rail", width: "100%", height: 6, y: 2, rx: 3 }), s("rect", { class: "now", width: share, height: 6, y: 2, rx: 3 }));
}

const tile = (figure, words) => h("div", { class: "tile" }, h("b", {}, figure), h("span", { class: "muted" }, words));

// No precision before the end: who sees it might answer by it.
export function showAudit(place, p) {
  fill(place,
    h("section", { class: "card page" },
      h("div", { class: "title" }, h("h1", {}, "Audit")),
      h("div", { class: "tiles" }, tile(count(p.decided), `of ${count(p.queue)} pairs answered`), tile(count(p.yes), "yes"), tile(count(p.no), "no"), tile(count(p.unsure), "unsure, not counted"), tile(count(p.queue - p.decided), "still open")),
      answered(p),
      h("p", { class: "muted say" }, "The sample is random: its answers measure how many matches are right. They are kept apart from those of other reviews. When ", h("code", {}, "kedge review"), " ends, it prints the precision with its interval, and decisions and report follow.")),
    reviewers(p));
}

export function showProgress(place, p, go) {
  const target = h("input", { type: "number", min: 0.5, max: 0.99, step: 0.01, value: p.target, id: "target" });
  target.addEventListener("change", () => go("/progress", { target: target.value }));
  fill(place,
    h("section", { class: "card page" },
      h("div", { class: "title" }, h("h1", {}, "Progress")),
      h("div", { class: "tiles" }, tile(count(p.decided), `of ${count(p.queue)} pairs no longer open`), tile(count(p.yes), "confirmed"), tile(count(p.no), "rejected, or an account is confirmed with another"),
        tile(percent(p.precision_now), `expected precision of ${count(p.pairs)} matches and confirmed pairs`), tile(percent(p.precision_before), "before any review"),
        tile(p.more === null ? "–" : count(p.more), `more answers to reach a precision of ${percent(p.target)}`)),
      gauge(p), h("p", { class: "muted say" }, towards(p), "."),
      h("p", {}, h("label", { for: "target" }, "Target precision "), target)),
    h("section", { class: "card page" },
      h("h2", {}, "Are the probabilities right?", h("span", { class: "hint" }, "mean probability, and the share that reviewers confirmed")),
      p.reliability.length ? h("table", { class: "list numbers" }, h("thead", {}, h("tr", {}, ["Probability", "Pairs", "Predicted", "Confirmed"].map((w, i) => h("th", { class: i ? "figure" : "" }, w)))),
        h("tbody", {}, p.reliability.map((b) => h("tr", {}, h("td", {}, `${percent(b.low)} to ${percent(b.high)}`), h("td", { class: "figure" }, count(b.pairs)), h("td", { class: "figure" }, percent(b.predicted)), h("td", { class: "figure" }, percent(b.confirmed))))))
        : h("p", { class: "none" }, "Nothing has been decided yet.")),
    reviewers(p));
}

function reviewers(p) {
  return h("section", { class: "card page" },
      h("h2", {}, "Reviewers"),
      p.reviewers.length ? h("table", { class: "list numbers" }, h("thead", {}, h("tr", {}, ["Reviewer", "Yes", "No", "Unsure"].map((w, i) => h("th", { class: i ? "figure" : "" }, w)))),
        h("tbody", {}, p.reviewers.map((r) => h("tr", {}, h("td", {}, spelled(r.reviewer)), ["yes", "no", "unsure"].map((v) => h("td", { class: "figure" }, count(r[v])))))))
        : h("p", { class: "none" }, "No reviewer has decided yet."),
      p.agreement.map((a) => h("p", { class: "kappa" }, h("b", {}, spelled(a.first), " and ", spelled(a.second), `: κ = ${a.kappa === null ? "–" : a.kappa.toFixed(2)}`),
        h("span", { class: "muted" }, ` ${AGREEMENT(a.kappa)}; the same verdict on ${count(a.same)} of ${count(a.both)} pairs that both decided`))),
      p.reviewers.length && !p.agreement.length ? h("p", { class: "muted kappa" }, "Agreement is shown once two reviewers have decided the same pair: choose “needs my second opinion” in the queue.") : null);
}
