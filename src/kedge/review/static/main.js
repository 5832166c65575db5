// The app: routes, keys, decisions.
import { count, fill, h, name, plain, random, spelled } from "./dom.js";
import { answered, gauge, showAudit, showHistory, showProgress, showQueue, showSearch, towards } from "./lists.js";
import { ACTIONS, actionOf, keyOf, resetKeys, saveKeys } from "./keys.js";
import { get, open, pending, post, Refused, session } from "./net.js";
import { showPair } from "./pair.js";

const at = (id) => document.getElementById(id);
const place = at("main");
const state = { pair: null, blind: localStorage.getItem("kedge-blind") === "1", busy: false, note: "", trail: [] };
const FILTERS = ["status", "decision", "least", "most", "q"];
const query = () => Object.fromEntries(new URLSearchParams(location.search));
const filters = () => Object.fromEntries(Object.entries(query()).filter(([key]) => FILTERS.includes(key)));
const blind = () => (state.blind ? { blind: 1 } : {});

function go(path, parameters = {}, replace = false) {
  const text = new URLSearchParams(parameters).toString();
  history[replace ? "replaceState" : "pushState"]({}, "", text ? `${path}?${text}` : path);
  return route();
}

function toast(...words) {
  fill(at("toast"), h("span", {}, words));
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => fill(at("toast")), 6000);
}

function banner(...words) {
  at("banner").hidden = words.length === 0;
  fill(at("banner"), words);
}

function ask(title, content, buttons, focused = "") {
  return new Promise((resolve) => {
    const form = h("form", { method: "dialog" }, h("h2", { id: "dialogtitle" }, title), content,
      h("div", { class: "buttons" }, buttons.map(([value, words, kind]) => h("button", { value, class: kind || "quiet", autofocus: value === focused }, words))));
    const dialog = h("dialog", { "aria-labelledby": "dialogtitle" }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
    at("dialogs").append(dialog);
    dialog.showModal();
  });
}

// Whoever asks while the name is on its way to the server waits for the same answer.
let naming = null;
function askReviewer() {
  naming ??= nameReviewer().finally(() => (naming = null));
  return naming;
}

async function nameReviewer() {
  const box = h("input", { id: "name", maxlength: 80, required: true, autocomplete: "name", list: "names" });
  box.value = session.reviewer || "";
  const known = h("datalist", { id: "names" }, session.reviewers.map((one) => h("option", { value: one })));
  const content = h("div", {}, h("p", {}, h("label", { for: "name" }, "Your name is saved with every decision.")), box, known);
  const choice = await ask("Who decides?", content, [["ok", "Continue", "primary"]]);
  if (choice !== "ok" || !box.value.trim()) return Boolean(session.reviewer);
  try {
    session.reviewer = (await post("/api/reviewer", { name: box.value })).reviewer;
    showReviewer();
    return true;
  } catch (error) {
    trouble(error);
    return false;
  }
}

const showReviewer = () => fill(at("reviewer"), session.reviewer ? spelled(session.reviewer) : "Who decides?");

function trouble(error) {
  if (!(error instanceof Refused)) {
    banner("The server does not answer. ", pending.read() ? "Your last answer is saved in this browser and is sent when the server is back. " : "",
      h("button", { type: "button", class: "quiet", onclick: () => resume() }, "Try again"));
    clearTimeout(trouble.timer);
    trouble.timer = setTimeout(resume, 2000);
  } else if (error.status === 401) banner("The server was restarted: open the new link that `kedge review` printed. ", pending.read() ? "Your last answer is saved in this browser and is sent then." : "");
  else if (error.body.replaced) banner(`${error.message}. Nothing more is saved here.`);
  else toast(error.message);
}

async function resume() {
  clearTimeout(trouble.timer);
  try {
    await open();
    banner();
    await sendPending();
    await route();
  } catch (error) {
    trouble(error);
  }
}

async function sendPending() {
  const body = pending.read();
  if (!body) return;
  try {
    const { entry } = await post("/api/decisions", body);
    toast("Your saved answer was sent: ", entry.action, " for ", name(entry.left), " ↔ ", name(entry.right));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
  pending.drop();
}

async function decide(verdict, despite = false) {
  const pair = state.pair;
  if (!pair || state.busy) return;
  if (!session.reviewer && !(await askReviewer())) return;
  const body = { left: pair.left.account, right: pair.right.account, verdict, note: state.note, key: random(), run: session.run, seen: pair.seen, despite };
  state.busy = true;
  place.setAttribute("aria-busy", "true");
  try {
    pending.save(body);
    await post("/api/decisions", body);
    pending.drop();
    toast(`${{ yes: "✓ Yes", no: "✗ No", unsure: "? Unsure" }[verdict]}: `, name(pair.left.id), " ↔ ", name(pair.right.id), `. Press ${keyOf("undo").toUpperCase()} to undo.`);
    state.note = "";
    state.busy = false;
    await go("/", filters());
  } catch (error) {
    state.busy = false;
    if (error instanceof Refused && error.status !== 401) pending.drop();
    if (error instanceof Refused && error.body.contradiction) await contradicted(verdict, error.body.contradiction);
    else {
      trouble(error);
      if (error instanceof Refused && error.status === 409 && !error.body.replaced) await route();
    }
  } finally {
    state.busy = false;
    place.removeAttribute("aria-busy");
  }
}

async function contradicted(verdict, found) {
  const lines = found.map((w) => h("p", { class: "warning" }, name(w.id), w.by === "anchor" ? " is known to be " : " is already confirmed as ", name(w.partner), w.by === "anchor" ? "." : ` (by ${plain(w.by)}).`));
  const content = h("div", {}, lines, h("p", {}, "An account confirmed twice is used for neither until one of the two is undone."));
  if ((await ask("Confirm a second partner?", content, [["no", "Cancel", "primary"], ["yes", "Confirm anyway"]])) === "yes") await decide(verdict, true);
}

async function undo(seq) {
  if (state.busy) return;
  if (!session.reviewer && !(await askReviewer())) return;
  state.busy = true;
  try {
    const { entry, accounts } = await post("/api/undo", { key: random(), ...(seq ? { seq } : {}) });
    if (!entry) toast("You have no decision left to undo.");
    else toast(`Undone: decision ${entry.undoes}, `, name(entry.left), " ↔ ", name(entry.right));
    state.busy = false;
    if (entry && accounts && !seq) await go("/", { ...filters(), ...accounts });
    else await route();
  } catch (error) {
    trouble(error);
  } finally {
    state.busy = false;
  }
}

const skip = async () => {
  if (!state.pair || state.busy) return;
  const { pair } = await get("/api/next", { ...filters(), ...blind(), after: state.pair.left.account });
  if (pair) await go("/", { ...filters(), left: pair.left.account, right: pair.right.account });
};

const search = async (text) => {
  try {
    return (await get("/api/search", { q: text })).right;
  } catch (error) {
    trouble(error);
    return null;
  }
};

const look = (left, right) => go("/", { ...filters(), left, right });

async function review() {
  const { left, right } = query();
  const { pair } = left !== undefined && right !== undefined ? await get("/api/pair", { left, right, ...blind() }) : await get("/api/next", { ...filters(), ...blind() });
  const shown = state.pair;
  if (!shown || !pair || shown.left.account !== pair.left.account) state.note = "";
  state.pair = pair;
  if (!pair && session.audit) {
    fill(place, h("section", { class: "card page empty" }, h("h1", {}, "The audit is complete"),
      h("p", {}, "Every pair of the sample has an answer. End ", h("code", {}, "kedge review"), " with ^C: it prints the precision with its interval, and decisions and report follow."),
      h("p", {}, h("a", { href: "/queue?status=all", "data-link": "" }, "Look at your answers"), " or ", h("a", { href: "/queue?status=unsure", "data-link": "" }, "at the unsure pairs"), ".")));
    return;
  }
  if (!pair) {
    fill(place, h("section", { class: "card page empty" }, h("h1", {}, "No pair is left in this queue"),
      h("p", {}, "Run the same ", h("code", {}, "kedge match"), " again: confirmed pairs become anchors, rejected pairs are excluded."),
      h("p", {}, h("a", { href: "/queue?status=second", "data-link": "" }, "Give second opinions"), " or ", h("a", { href: "/queue?status=unsure", "data-link": "" }, "look at the unsure pairs"), ".")));
    return;
  }
  if (left === undefined) history.replaceState({}, "", `/?${new URLSearchParams({ ...filters(), left: pair.left.account, right: pair.right.account })}`);
  // The pair and any warning must be in sight before an answer is given.
  if (!shown || shown.left.account !== pair.left.account || shown.right.account !== pair.right.account) scrollTo(0, 0);
  showPair(place, pair, { audit: session.audit, decide, undo: () => undo(), skip, go: look, search, note: state.note, saveNote: (text) => (state.note = text) });
  document.title = `${plain(pair.left.id)} ↔ ${plain(pair.right.id)} · kedge review`;
}

async function queue() {
  const asked = query();
  if (asked.find) return showSearch(place, await get("/api/search", { q: asked.find }));
  return showQueue(place, await get("/api/queue", { ...asked, ...blind(), limit: 50 }), asked, go, state.blind, session.audit);
}

const PAGES = {
  "/": review,
  "/queue": queue,
  "/history": async () => showHistory(place, await get("/api/history", { ...query(), ...blind() }), query(), session.reviewer, go, undo, state.blind),
  "/progress": async () => (session.audit ? showAudit : showProgress)(place, await get("/api/progress", query()), go),
};

async function strip() {
  const p = await get("/api/progress");
  if (session.audit) return fill(at("strip"), h("span", {}, h("b", {}, session.name), " · audit"), answered(p), h("span", { class: "muted" }, `${count(p.decided)} of ${count(p.queue)} pairs answered`));
  fill(at("strip"), h("span", {}, h("b", {}, session.name), ` · ${count(p.mine)} decided by you, ${count(p.yes + p.no)} of ${count(p.queue)} pairs confirmed or rejected`), state.blind ? "" : [gauge(p), h("span", { class: "muted" }, towards(p))]);
}

async function route() {
  document.title = "kedge review";
  at("blind").hidden = session.audit;
  at("blind").setAttribute("aria-pressed", String(state.blind));
  for (const link of document.querySelectorAll("nav a")) link.toggleAttribute("aria-current", link.pathname === location.pathname);
  if (location.pathname !== "/") state.pair = null;
  try {
    await (PAGES[location.pathname] || review)();
    await strip();
  } catch (error) {
    if (error instanceof Refused && [404, 422].includes(error.status)) notThere(error);
    else trouble(error);
  }
}

// A link of another run, or one that was typed: an explanation in place of the page, and where to go instead.
function notThere(error) {
  state.pair = null;
  fill(place, h("section", { class: "card page empty" }, h("h1", {}, "Page not found"), h("p", {}, `The server answered: ${error.message}.`),
    h("p", {}, h("a", { href: "/", "data-link": "" }, "Continue with the next pair"), " or ", h("a", { href: "/queue", "data-link": "" }, "look at the queue"), ".")));
}

async function help(problem = "") {
  const boxes = ACTIONS.filter(([action]) => action !== "blind" || !session.audit).map(([action, , words]) => {
    const box = h("input", { id: `key-${action}`, class: "key", maxlength: 2, autocomplete: "off", spellcheck: "false" });
    box.value = keyOf(action).toUpperCase();
    return [action, box, words];
  });
  const fixed = [["1 – 9", "show a candidate"], ["/", "search an account"], ["?", "this help"]];
  const content = h("div", {}, problem ? h("p", { class: "warning" }, problem) : null,
    h("dl", { class: "keys" }, boxes.map(([action, box, words]) => [h("dt", {}, box), h("dd", {}, h("label", { for: `key-${action}` }, words))]),
      fixed.map(([key, words]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)])),
    h("p", { class: "muted" }, "Keys can be changed; this browser keeps them."));
  const choice = await ask("Keys", content, [["usual", "Usual keys"], ["ok", "Close", "primary"]], "ok");
  if (choice !== "usual" && choice !== "ok") return undefined;
  if (choice === "usual") resetKeys();
  else {
    const changed = boxes.filter(([action, box]) => box.value.trim().toLowerCase() !== keyOf(action));
    const wrong = changed.length ? saveKeys({ ...Object.fromEntries(ACTIONS.map(([action]) => [action, keyOf(action)])), ...Object.fromEntries(boxes.map(([action, box]) => [action, box.value])) }) : "";
    if (wrong) return help(`${wrong[0].toUpperCase()}${wrong.slice(1)}.`);
    if (!changed.length) return undefined;
  }
  return route();
}

function toggleBlind() {
  if (session.audit) return;
  state.blind = !state.blind;
  localStorage.setItem("kedge-blind", state.blind ? "1" : "0");
  route();
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing && event.target.id === "note" && event.key === "Enter") event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
  const digit = state.pair && state.pair.candidates[Number(event.key) - 1];
  const into = (id) => () => at(id) && at(id).focus();
  const does = { yes: () => decide("yes"), no: () => decide("no"), unsure: () => decide("unsure"), skip, undo: () => undo(), blind: toggleBlind, note: into("note"), other: into("other") };
  const fixed = { "?": () => help(), "/": into("find") };
  const action = /^[1-9]$/.test(event.key) ? digit && (() => look(state.pair.left.account, digit.account)) : fixed[event.key] || does[actionOf(event.key)];
  if (!action) return;
  event.preventDefault();
  action();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-link]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const url = new URL(link.href);
  go(url.pathname, Object.fromEntries(url.searchParams)).then(() => place.focus({ preventScroll: true }));
});

at("blind").addEventListener("click", toggleBlind);
at("reviewer").addEventListener("click", () => askReviewer().then(route));
at("help").addEventListener("click", () => help());
document.querySelector(".find").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = at("find").value;
  at("find").blur();
  if (text) go("/queue", { find: text });
});
addEventListener("popstate", route);

async function start() {
  try {
    await open();
    showReviewer();
    await sendPending();
    await route();
    if (!session.reviewer) await askReviewer();
  } catch (error) {
    trouble(error);
  }
}

start();
