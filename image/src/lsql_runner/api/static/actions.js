// Stop and start, each after a confirmation.

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
};

const ALLOWED_IN = {
  stop: new Set(["starting", "waiting", "running", "restarting", "failed"]),
  start: new Set(["stopped", "failed"]),
};

let app = "";

/** Shows the actions that the state allows; the focus moves from a hidden button to the visible one. */
export function offer(stream) {
  app = stream.appId;
  const focused = document.activeElement;
  for (const action of ["stop", "start"]) byId(action).hidden = !ALLOWED_IN[action].has(stream.state);
  if (focused?.hidden) (byId("start").hidden ? byId("stop") : byId("start")).focus();
}

/** Connects the buttons; `done` is called after each request. */
export function wire(done) {
  const dialog = byId("confirm");
  let action;
  for (const name of ["stop", "start"]) {
    byId(name).addEventListener("click", () => {
      action = name;
      setText(byId("confirm-title"), QUESTIONS[name].title(app));
      setText(byId("confirm-text"), QUESTIONS[name].text);
      setText(byId("confirm-yes"), QUESTIONS[name].yes);
      byId("confirm-problem").hidden = true;
      dialog.showModal();
    });
  }
  byId("confirm-no").addEventListener("click", () => dialog.close());
  byId("confirm-yes").addEventListener("click", async () => {
    const button = byId("confirm-yes");
    button.disabled = true;
    try {
      await post(action);
      dialog.close();
    } catch (problem) {
      setText(byId("confirm-problem"), [problem.message, problem.wayOut].filter(Boolean).join(" "));
      byId("confirm-problem").hidden = false;
    }
    button.disabled = false;
    done();
  });
}
