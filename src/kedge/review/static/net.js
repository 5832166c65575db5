// Requests to the server. A decision is saved in the browser until the server has acknowledged it; its key makes sure
// that it counts once if it is sent twice.

let csrf = "";
export const session = {};

export class Refused extends Error {
  constructor(status, body) {
    super(body.error || `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

async function request(path, options) {
  const answer = await fetch(path, { credentials: "same-origin", ...options });
  let body = {};
  try {
    body = await answer.json();
  } catch {
    // An answer that is no JSON: the status is enough.
  }
  if (!answer.ok) throw new Refused(answer.status, body);
  return body;
}

export const get = (path, parameters = {}) => {
  const given = Object.entries(parameters).filter(([, v]) => v !== null && v !== undefined && v !== "");
  const query = new URLSearchParams(given).toString();
  return request(query ? `${path}?${query}` : path);
};

export const post = (path, body) =>
  request(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-kedge-csrf": csrf },
    body: JSON.stringify(body),
  });

export async function open() {
  const answer = await get("/api/session");
  csrf = answer.csrf;
  Object.assign(session, answer);
}

const place = () => `kedge-pending-${session.run}`;

export const pending = {
  save: (body) => localStorage.setItem(place(), JSON.stringify({ reviewer: session.reviewer, body })),
  drop: () => localStorage.removeItem(place()),
  read() {
    try {
      const saved = JSON.parse(localStorage.getItem(place()));
      return saved && saved.reviewer === session.reviewer ? saved.body : null;
    } catch {
      return null;
    }
  },
};
