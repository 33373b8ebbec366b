// The user of the page and the allowed actions. Without a session the page shows the log-in.

import { Problem, get, send } from "./client.js";
import { byId, setText } from "./dom.js";

const NOBODY = { user: null, role: null, actions: {}, logs: false, pollSeconds: 10 };

let now = NOBODY;
let leaving = false;

export const session = () => now;

/** Fetches the session, or ends it; whether the user may read. */
export async function enter() {
  show(await (leaving ? send("DELETE", "api/v1/session") : get("api/v1/session")));
  leaving = false;
  return now.user !== null;
}

/**
 * Wires the log-in and the log-out; `entered` is called after each, and asks for a turn. A log-out is left to the turn:
 * sent beside one it would take the session away from a request that is on its way.
 */
export function wireSession(entered) {
  byId("login-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      show(await send("POST", "api/v1/session", { token: byId("token").value.trim() }));
      byId("token").value = "";
      entered();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      tell(problem.message);
    }
  });
  byId("log-out").addEventListener("click", () => {
    leaving = true;
    now = { ...now, user: null };
    entered();
  });
}

function show(found) {
  now = found;
  const needed = now.user === null;
  const appears = needed && byId("login").hidden;
  byId("login").hidden = !needed || now.mode !== "token";
  byId("account").hidden = needed || now.mode === "none";
  byId("log-out").hidden = now.mode !== "token";
  setText(byId("who"), needed ? "" : `${now.user} · ${now.role}`);
  tell(needed && now.mode === "header" ? now.why : "");
  if (appears && now.mode === "token") byId("token").focus();
  if (needed && now.mode === "header") {
    setText(byId("connection"), now.why);
    byId("connection").hidden = false;
  }
}

function tell(text) {
  setText(byId("login-problem"), text);
  byId("login-problem").hidden = !text;
}
