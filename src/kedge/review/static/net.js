// Talking to the server. A decision that was sent but not acknowledged is kept until it is, under its own key:
// sent twice, it counts once.

let csrf = "";
export const session = {};

export class Refused extends Error {
  constructor(status, body) {
    super(body.error || `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

async function talk(path, options) {
  const answer = await fetch(path, { credentials: "same-origin", ...options });
  let body = {};
  try {
    body = await answer.json();
  } catch {
    // A page that is no JSON: the status says enough.
  }
  if (!answer.ok) throw new Refused(answer.status, body);
  return body;
}

export const get = (path, parameters = {}) => {
  const given = Object.entries(parameters).filter(([, v]) => v !== null && v !== undefined && v !== "");
  const query = new URLSearchParams(given).toString();
  return talk(query ? `${path}?${query}` : path);
};

export const post = (path, body) =>
  talk(path, {
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
  keep: (body) => localStorage.setItem(place(), JSON.stringify({ reviewer: session.reviewer, body })),
  drop: () => localStorage.removeItem(place()),
  read() {
    try {
      const kept = JSON.parse(localStorage.getItem(place()));
      return kept && kept.reviewer === session.reviewer ? kept.body : null;
    } catch {
      return null;
    }
  },
};
