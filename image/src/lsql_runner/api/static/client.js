// Talks to the processor's REST API. Addresses are relative: the page may stand behind a path of a proxy.

const TIMEOUT_MS = 8_000;

/** An error answer of the API (problem+json), or of whatever stands between. */
export class Problem extends Error {
  constructor({ detail, wayOut }) {
    super(detail);
    this.wayOut = wayOut;
  }
}

export const get = (path) => ask(path, { cache: "no-store" });
export const post = (path) => ask(path, { method: "POST" });

async function ask(path, options) {
  const response = await fetch(path, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => {
    throw new Problem({ detail: "It cannot be reached.", wayOut: "" });
  });
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  throw new Problem(body?.detail ? body : { detail: `The answer was HTTP ${response.status}.`, wayOut: "" });
}

/** Calls `turn` at once and then `everyMs` after each turn has ended; rests while the page is hidden. */
export function poll(turn, everyMs) {
  let timer;
  let running = false;
  async function go() {
    clearTimeout(timer);
    if (running) return;
    running = true;
    try {
      await turn();
    } finally {
      running = false;
      if (!document.hidden) timer = setTimeout(go, everyMs);
    }
  }
  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : go()));
  go();
  return go;
}
