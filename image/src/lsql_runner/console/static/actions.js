// Stop, start, scale and delete, each after a confirmation. The server checks the rights; the page offers what is allowed.

import { Problem, send } from "./client.js";
import { byId, setText } from "./dom.js";
import { session } from "./session.js";

const LIVING = ["starting", "waiting", "running", "restarting", "failed"];

const ACTIONS = {
  start: {
    states: ["stopped", "failed"],
    title: (name) => `Start ${name}?`,
    text: () => "It goes on at the position it has kept.",
    yes: "Start it",
    request: (path) => ["PUT", `${path}/start`],
  },
  stop: {
    states: LIVING,
    title: (name) => `Stop ${name}?`,
    text: () => "The batch under way ends. Position and state are kept, also when the pod is restarted, until someone starts it again.",
    yes: "Stop it",
    request: (path) => ["PUT", `${path}/stop`],
  },
  scale: {
    states: LIVING,
    title: (name) => `Scale ${name}`,
    text: () => "How many runners are to share the work?",
    label: "Runners",
    value: (stream) => String(stream.runners),
    fits: (value) => /^[0-9]{1,3}$/.test(value),
    yes: "Scale it",
    request: (path, value) => ["PUT", `${path}/scale/${value}`],
  },
  delete: {
    states: [...LIVING, "stopping", "stopped", "ended", "unreachable", "scaled-down"],
    title: (name) => `Delete ${name}?`,
    text: (stream) =>
      `The ${stream.kind} and its pods go. Its volumes, its Service and the record of the Helm release stay${
        stream.release ? ` until helm uninstall ${stream.release}` : ""
      }. To go on, type its name.`,
    label: "Name",
    value: () => "",
    fits: (value, stream) => value === stream.name,
    yes: "Delete it",
    request: (path) => ["DELETE", path],
  },
};

let shown;
let asked;

/** Shows the actions that are allowed for a processor; none without one. */
export function offer(stream) {
  shown = stream;
  const focused = document.activeElement;
  for (const [name, action] of Object.entries(ACTIONS)) {
    byId(name).hidden = !stream || !session().actions[name] || !action.states.includes(stream.state);
  }
  if (focused?.hidden) byId("main").focus();
}

/** Wires the buttons; `done` is called after a request was accepted. */
export function wireActions(done) {
  const dialog = byId("confirm");
  const value = byId("confirm-value");
  const allow = () => {
    byId("confirm-yes").disabled = Boolean(asked.label) && !asked.fits(value.value.trim(), asked.stream);
  };
  for (const [name, action] of Object.entries(ACTIONS)) {
    byId(name).addEventListener("click", () => {
      asked = { ...action, stream: shown };
      setText(byId("confirm-title"), action.title(shown.name));
      setText(byId("confirm-text"), action.text(shown));
      setText(byId("confirm-yes"), action.yes);
      setText(byId("confirm-label"), action.label ?? "");
      byId("confirm-ask").hidden = !action.label;
      byId("confirm-problem").hidden = true;
      value.value = action.label ? action.value(shown) : "";
      allow();
      dialog.showModal();
    });
  }
  value.addEventListener("input", allow);
  value.addEventListener("keydown", (event) => event.key === "Enter" && byId("confirm-yes").click());
  byId("confirm-no").addEventListener("click", () => dialog.close());
  byId("confirm-yes").addEventListener("click", async () => {
    byId("confirm-yes").disabled = true;
    try {
      await send(...asked.request(`api/v1/streams/${encodeURIComponent(asked.stream.id)}`, value.value.trim()));
      dialog.close();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      setText(byId("confirm-problem"), [problem.message, problem.wayOut].filter(Boolean).join(" "));
      byId("confirm-problem").hidden = false;
    }
    allow();
    done();
  });
}
