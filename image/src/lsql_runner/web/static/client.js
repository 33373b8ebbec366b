// Sends requests to the REST API of a page. URLs are relative, because a proxy may serve the page under a path.

const TIMEOUT_MS = 8_000;

/** An error of the API (problem+json), or of a proxy in front of it. */
export class Problem extends Error {
  constructor({ detail, wayOut, status }) {
    super(detail);
    this.wayOut = wayOut;
    this.status = status;
  }
}

/** A GET, with a bearer token if one is given. */
export const get = (path, token, read) => request(path, { cache: "no-store", ...bearer(token) }, read);

/** A POST, with a bearer token if one is given. */
export const post = (path, token) => request(path, { method: "POST", ...bearer(token) });

const bearer = (token) => token && { headers: { Authorization: `Bearer ${token}` } };

/** Reads JSON whose numbers keep all their digits in JSON.stringify, in browsers that can do so. */
export async function withDigits(response) {
  const exact = (_, value, context) =>
    typeof value === "number" && JSON.rawJSON && context?.source !== String(value) ? JSON.rawJSON(context.source) : value;
  return JSON.parse(await response.text(), exact);
}

/** A GET that uses the browser's copy if the server confirms that it is current. */
export const revalidate = (path) => request(path, { cache: "no-cache" });

/** A request of any method, with an optional JSON body. */
export function send(method, path, body) {
  const content = body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  return request(path, { method, ...content });
}

async function request(path, options, read = (response) => response.json()) {
  const response = await fetch(path, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => {
    throw new Problem({ detail: "The server cannot be reached.", wayOut: "" });
  });
  const body = await read(response).catch(() => null);
  if (response.ok && body !== null) return body;
  throw new Problem(body?.detail ? body : { detail: `The server returned HTTP ${response.status}.`, wayOut: "", status: response.status });
}

/**
 * Calls `refresh` at once and then `everyMs` after each call has ended; pauses while the page is hidden. Returns a
 * function that refreshes now; if a refresh is running, another follows, because the running one may have read old data.
 */
export function poll(refresh, everyMs) {
  let timer;
  let running = false;
  let repeat = false;
  async function run() {
    clearTimeout(timer);
    repeat = running;
    if (running) return;
    running = true;
    try {
      do {
        repeat = false;
        await refresh();
      } while (repeat);
    } finally {
      running = false;
      if (!document.hidden) timer = setTimeout(run, everyMs);
    }
  }
  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : run()));
  run();
  return run;
}
