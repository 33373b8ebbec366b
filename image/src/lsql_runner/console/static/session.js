// Who looks at the page, and what they may do. Without a session the page shows the log-in.

import { Problem, get, send } from "./client.js";
import { byId, setText } from "./dom.js";

const NOBODY = { user: null, role: null, actions: {}, logs: false, pollSeconds: 10 };

let now = NOBODY;

export const session = () => now;

/** Asks who we are; whether we may look. */
export async function enter() {
  show(await get("api/v1/session"));
  return now.user !== null;
}

/** Wires the log-in and the log-out; `entered` is called after each. */
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
  byId("log-out").addEventListener("click", async () => {
    show(await send("DELETE", "api/v1/session"));
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
