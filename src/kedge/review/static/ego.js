// Both ego networks as a ladder: the two accounts outside, their matched neighbours on rungs between them.
import { h, plain, s, shorten } from "./dom.js";

export const COLOURS = ["#0072b2", "#c24e00", "#00795a", "#a8437f", "#8a6100", "#4b5fc0"];
export const colour = (i) => COLOURS[i % COLOURS.length];
const ROW = 27;
const EDGES = 14; // drawn on each side among neighbours: more of them are one grey mass

function arc(n, radius, from, to) {
  return Array.from({ length: n }, (_, i) => {
    const angle = ((n === 1 ? (from + to) / 2 : from + ((to - from) * i) / (n - 1)) * Math.PI) / 180;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
}

// The edges that are drawn: those that both networks have between the same rungs first, then those between rungs.
function thinned(pair, which) {
  const rungs = pair.ego.joined.length;
  const key = ([i, j]) => `${Math.min(i, j)} ${Math.max(i, j)}`;
  const far = new Set(pair.ego[which === "left" ? "right" : "left"].edges.filter(([i, j]) => i < rungs && j < rungs).map(key));
  const rank = (edge) => (edge[0] >= rungs || edge[1] >= rungs ? 2 : far.has(key(edge)) ? 0 : 1);
  return [...pair.ego[which].edges].sort((a, b) => rank(a) - rank(b)).slice(0, EDGES);
}

function side(pair, which, frame) {
  const mirror = which === "left" ? 1 : -1;
  const at = (x) => (which === "left" ? x : frame.width - x);
  const ego = pair.ego[which];
  const centre = [at(frame.centre), frame.middle];
  const fan = Math.min(75, 9 * (ego.alone.length - 1)); // half the angle over which the others spread
  const joined = pair.ego.joined.map((_, i) => [at(frame.column), frame.top + i * ROW]);
  const alone = arc(ego.alone.length, frame.radius, 180 - fan, 180 + fan).map(([x, y]) => [centre[0] + mirror * x, centre[1] + y]);
  const places = [...joined, ...alone];
  const lines = thinned(pair, which).map(([i, j]) => {
    const [a, b] = [places[i], places[j]];
    // Edges between rungs bend towards the account, so that they do not hide behind the column.
    const both = i < joined.length && j < joined.length;
    const bend = both ? -mirror * Math.min(16 + Math.abs(a[1] - b[1]) * 0.22, frame.column - frame.centre - 14) : 0;
    const x = (a[0] + b[0]) / 2 + bend * 2;
    return s("path", { class: "edge", d: `M${a[0]} ${a[1]}Q${both ? x : (a[0] + b[0]) / 2} ${(a[1] + b[1]) / 2} ${b[0]} ${b[1]}` });
  });
  const rays = places.map(([x, y], i) =>
    s("line", { class: i < joined.length ? "ray joined" : "ray", x1: centre[0], y1: centre[1], x2: x, y2: y }));
  const dots = alone.map(([x, y], i) => {
    const other = ego.alone[i];
    return s("g", { class: other.elsewhere ? "alone elsewhere" : "alone" },
      s("title", {}, `${plain(other.id)}: ${other.elsewhere ? "known to have another partner" : "no counterpart here"}`),
      s("circle", { cx: x, cy: y, r: frame.dot }));
  });
  const more = ego.more > 0
    ? s("text", { class: "small", x: centre[0] - mirror * frame.moreAway, y: frame.middle + frame.radius + 26, "text-anchor": "middle" }, `+${ego.more} more`)
    : null;
  const hub = s("g", { class: "hub" },
    s("circle", { cx: centre[0], cy: centre[1], r: frame.hub }),
    s("text", { x: centre[0], y: centre[1] + 4, "text-anchor": "middle" }, which === "left" ? "L" : "R"));
  return { lines: [...lines, ...rays], front: [...dots, more, hub], joined };
}

export function egoNetworks(pair, width) {
  const narrow = width < 560;
  const rungs = pair.ego.joined.length;
  const height = Math.max(rungs * ROW + 24, narrow ? 170 : 250);
  const frame = {
    width, height,
    middle: height / 2,
    top: height / 2 - ((rungs - 1) * ROW) / 2,
    centre: narrow ? 46 : Math.min(width * 0.17, 150),
    column: narrow ? 104 : Math.min(width * 0.32, 290),
    radius: narrow ? 34 : Math.min(width * 0.12, 92),
    hub: narrow ? 13 : 18,
    dot: narrow ? 3.6 : 5,
    moreAway: narrow ? 6 : 30,
  };
  const sides = [side(pair, "left", frame), side(pair, "right", frame)];
  // Two short names are above their rung; of two that do not fit there, one is below it. The evidence has them whole.
  const room = Math.floor((width - 2 * frame.column - 30) / 6.7);
  const letters = (id) => [...plain(id)].length;
  const ladder = pair.ego.joined.map((twin, i) => {
    const [[x1, y], [x2]] = [sides[0].joined[i], sides[1].joined[i]];
    const words = `${i + 1}: ${plain(twin.left.id)} and ${plain(twin.right.id)}, ${twin.known ? "a known pair" : "matched by kedge"}`;
    const fits = Math.max(letters(twin.left.id), letters(twin.right.id)) <= Math.floor(room / 2);
    const ends = [x1, x2].map((x) => [
      s("circle", { cx: x, cy: y, r: 9, fill: colour(i), class: twin.known ? "known" : "" }),
      s("text", { class: "number", x, y: y + 3.6, "text-anchor": "middle" }, i + 1)]);
    return s("g", { class: "rung" },
      s("title", {}, words),
      s("rect", { class: "touch", x: x1 - 12, y: y - ROW / 2, width: x2 - x1 + 24, height: ROW }),
      s("line", { x1: x1 + 9, y1: y, x2: x2 - 9, y2: y, stroke: colour(i), class: twin.known ? "known" : "guess", "stroke-opacity": twin.known ? 1 : 0.35 + 0.6 * twin.belief }),
      s("text", { class: "label", x: x1 + 14, y: y - 4 }, shorten(twin.left.id, room)),
      s("text", { class: "label", x: x2 - 14, y: fits ? y - 4 : y + 11, "text-anchor": "end" }, shorten(twin.right.id, room)),
      ends);
  });
  const all = pair.ego.matched;
  const summary = `${all} neighbours of both accounts are matched with each other, ${rungs} of them drawn; ${pair.left.degree - all} and ${pair.right.degree - all} others are not.`;
  const undrawn = ["left", "right"].map((which) => pair.ego[which].edges.length - thinned(pair, which).length);
  const thin = undrawn[0] + undrawn[1] ? h("p", { class: "muted sub" }, `${undrawn[0]} and ${undrawn[1]} more edges among these neighbours are not drawn.`) : null;
  const drawing = s("svg", { class: "ego", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": summary },
    sides.map((one) => one.lines), ladder, sides.map((one) => one.front));
  const none = rungs ? null : h("p", { class: "none" }, "No neighbour of one account is matched with a neighbour of the other.");
  return h("div", { class: "egos" }, drawing, none, thin);
}

export function legend() {
  const key = (drawing, words) => h("li", {}, s("svg", { width: 30, height: 14, "aria-hidden": "true" }, drawing), words);
  // The colour of a rung is only its number's, so the key to solid and dashed has none.
  const rung = (kind) => [s("line", { x1: 8, x2: 22, y1: 7, y2: 7, class: `${kind} key` }), s("circle", { cx: 7, cy: 7, r: 5, class: "key" }), s("circle", { cx: 23, cy: 7, r: 5, class: "key" })];
  return h("ul", { class: "legend" },
    key(rung("known"), "known pair"),
    key(rung("guess"), "matched by kedge, paler where less sure"),
    key(COLOURS.slice(0, 3).map((fill, i) => s("circle", { cx: 5 + 10 * i, cy: 7, r: 4, fill })), "colour and number: the same pair on both sides and in the evidence"),
    key(s("g", { class: "alone" }, s("circle", { cx: 15, cy: 7, r: 5 })), "no counterpart here"),
    key(s("g", { class: "alone elsewhere" }, s("circle", { cx: 15, cy: 7, r: 5 })), "has another known partner"));
}
