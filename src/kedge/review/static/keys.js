// Which key does what: the usual ones, or those that were set in this browser.
const STORED = "kedge-keys";

// In the order of the help. `/` and the digits stay as they are.
export const ACTIONS = [
  ["yes", "y", "yes, the same person"],
  ["no", "n", "no"],
  ["unsure", "u", "unsure"],
  ["skip", "s", "skip"],
  ["undo", "z", "undo; again for the one before"],
  ["note", "m", "note"],
  ["other", "o", "search another account for this pair"],
  ["blind", "b", "blind: hide scores"],
];
const USUAL = Object.fromEntries(ACTIONS.map(([action, key]) => [action, key]));

const usable = (key) => typeof key === "string" && [...key].length === 1 && !/[\d\s/?]/u.test(key);

export function keyOf(action) {
  return chosen()[action];
}

export function actionOf(key) {
  const keys = chosen();
  return ACTIONS.map(([action]) => action).find((action) => keys[action] === key.toLowerCase());
}

// What is stored may be of another version, or damaged: then the usual keys count.
function chosen() {
  try {
    const stored = JSON.parse(localStorage.getItem(STORED) || "{}");
    const keys = { ...USUAL, ...Object.fromEntries(Object.entries(stored).filter(([action, key]) => action in USUAL && usable(key))) };
    return new Set(Object.values(keys)).size === ACTIONS.length ? keys : USUAL;
  } catch {
    return USUAL;
  }
}

// Stores the keys, or returns why they cannot be used.
export function saveKeys(keys) {
  const lower = Object.fromEntries(Object.entries(keys).map(([action, key]) => [action, key.trim().toLowerCase()]));
  const bad = Object.values(lower).find((key) => !usable(key));
  if (bad !== undefined) return bad ? `“${bad}” cannot be a key: use one letter or sign, no digit` : "every action needs a key";
  const twice = Object.values(lower).find((key, i, all) => all.indexOf(key) !== i);
  if (twice) return `“${twice}” is used twice`;
  localStorage.setItem(STORED, JSON.stringify(lower));
  return "";
}

export const resetKeys = () => localStorage.removeItem(STORED);
