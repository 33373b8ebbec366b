// The user of the page and the allowed actions. Without a session the page shows the login form.

import { Problem, get, send } from "./client.js";
import { byId, setText } from "./dom.js";

const NOBODY = { user: null, role: null, actions: {}, logs: false, pollSeconds: 10 };

let now = NOBODY;
let leaving = false;

export const session = () => now;

/** Fetches the session, or ends it after a click on "Log out". Resolves to whether the user is authenticated. */
export async function enter() {
  show(await (leaving ? send("DELETE", "api/v1/session") : get("api/v1/session")));
  leaving = false;
  return now.user !== null;
}

/**
 * Connects the login form and the logout button; `entered`, which refreshes the page, is called after each. The refresh
 * ends the session: a separate request could end it while other requests are running.
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
      showProblem(problem.message);
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
  showProblem(needed && now.mode === "header" ? now.why : "");
  if (appears && now.mode === "token") byId("token").focus();
  if (needed && now.mode === "header") {
    setText(byId("connection"), now.why);
    byId("connection").hidden = false;
  }
}

function showProblem(text) {
  setText(byId("login-problem"), text);
  byId("login-problem").hidden = !text;
}
