// Talks to the REST API behind a page. Addresses are relative: the page may stand behind a path of a proxy.

const TIMEOUT_MS = 8_000;

/** An error of the API (problem+json), or of a proxy in front of it. */
export class Problem extends Error {
  constructor({ detail, wayOut, status }) {
    super(detail);
    this.wayOut = wayOut;
    this.status = status;
  }
}

export const get = (path) => ask(path, { cache: "no-store" });
export const post = (path) => ask(path, { method: "POST" });

/** A GET that uses the browser's copy if the server says that it is current. */
export const revalidate = (path) => ask(path, { cache: "no-cache" });

/** Any other method, with a JSON body where there is one. */
export function send(method, path, body) {
  const content = body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  return ask(path, { method, ...content });
}

async function ask(path, options) {
  const response = await fetch(path, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => {
    throw new Problem({ detail: "It cannot be reached.", wayOut: "" });
  });
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  throw new Problem(body?.detail ? body : { detail: `The answer was HTTP ${response.status}.`, wayOut: "", status: response.status });
}

/**
 * Calls `turn` at once and then `everyMs` after each turn has ended; rests while the page is hidden. What it returns
 * asks for a turn now: the next one if one is under way, for that one may have seen what was before.
 */
export function poll(turn, everyMs) {
  let timer;
  let running = false;
  let again = false;
  async function go() {
    clearTimeout(timer);
    again = running;
    if (running) return;
    running = true;
    try {
      do {
        again = false;
        await turn();
      } while (again);
    } finally {
      running = false;
      if (!document.hidden) timer = setTimeout(go, everyMs);
    }
  }
  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : go()));
  go();
  return go;
}
