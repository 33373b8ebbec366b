// Stop, start and switch, each after a confirmation. If they require a token, the dialog asks for it; the page keeps it until it is
// closed.

import { post } from "./client.js";
import { byId, setText } from "./dom.js";

const QUESTIONS = {
  stop: {
    title: (app) => `Stop ${app}?`,
    text: "The running batch ends first. Position and state are kept. The processor stays stopped, even if its process restarts, until it is started.",
    yes: "Stop it",
  },
  start: {
    title: (app) => `Start ${app}?`,
    text: "The processor continues at its position.",
    yes: "Start it",
  },
  switch: {
    title: (app) => `Switch ${app}?`,
    text: "The changed INSERT takes over from the earlier one, at the next record. It can be undone only with the program of before.",
    yes: "Switch",
  },
};

const ALLOWED_IN = {
  stop: new Set(["starting", "waiting", "running", "restarting", "failed"]),
  start: new Set(["stopped", "failed"]),
  switch: new Set(["running"]),
};

let app = "";
let needsToken = false;
let token = ""; // that the processor has accepted

/** Shows the actions that the state allows; the focus moves from a hidden button to the visible one. */
export function offer(stream) {
  app = stream.appId;
  needsToken = stream.actions === "token";
  const focused = document.activeElement;
  for (const action of ["stop", "start", "switch"]) {
    byId(action).hidden = stream.actions === "none" || !ALLOWED_IN[action].has(stream.state);
  }
  if (stream.blueGreen?.phase !== "ready") byId("switch").hidden = true;
  if (focused?.hidden) ["start", "stop", "main"].map(byId).find((it) => !it.hidden).focus();
}

/** Shows an empty field for the token, or hides it. */
function ask(isAsked) {
  byId("confirm-token").value = "";
  byId("confirm-ask").hidden = !isAsked;
}

/** Connects the buttons; `done` is called after each request. */
export function wire(done) {
  const dialog = byId("confirm");
  const field = byId("confirm-token");
  let action;
  for (const name of ["stop", "start", "switch"]) {
    byId(name).addEventListener("click", () => {
      action = name;
      setText(byId("confirm-title"), QUESTIONS[name].title(app));
      setText(byId("confirm-text"), QUESTIONS[name].text);
      setText(byId("confirm-yes"), QUESTIONS[name].yes);
      byId("confirm-problem").hidden = true;
      ask(needsToken && !token);
      dialog.showModal();
    });
  }
  // A form with two fields and no button of its own is not submitted by Enter.
  field.addEventListener("keydown", (event) => event.key === "Enter" && byId("confirm-yes").click());
  byId("confirm-no").addEventListener("click", () => dialog.close());
  byId("confirm-yes").addEventListener("click", async () => {
    const button = byId("confirm-yes");
    button.disabled = true;
    const given = token || field.value.trim();
    try {
      await post(action, needsToken && given);
      token = given;
      dialog.close();
    } catch (problem) {
      if (problem.status === 401) {
        token = "";
        ask(true);
        field.focus();
      }
      setText(byId("confirm-problem"), [problem.message, problem.wayOut].filter(Boolean).join(" "));
      byId("confirm-problem").hidden = false;
    }
    button.disabled = false;
    done();
  });
}
