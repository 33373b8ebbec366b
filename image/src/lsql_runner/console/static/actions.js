// Stop, start, scale and delete, each after a confirmation. The page shows the allowed actions; the server checks them.

import { Problem, send } from "./client.js";
import { byId, setText } from "./dom.js";
import { session } from "./session.js";

const ACTIVE = ["starting", "waiting", "running", "restarting", "failed"];

const ACTIONS = {
  start: {
    states: ["stopped", "failed"],
    title: (name) => `Start ${name}?`,
    text: () => "The processor continues at its position.",
    yes: "Start it",
    request: (path) => ["PUT", `${path}/start`],
  },
  stop: {
    states: ACTIVE,
    title: (name) => `Stop ${name}?`,
    text: () => "The running batch ends first. Position and state are kept. The processor stays stopped, even if its pod restarts, until it is started.",
    yes: "Stop it",
    request: (path) => ["PUT", `${path}/stop`],
  },
  scale: {
    states: [...ACTIVE, "stopping", "stopped", "unreachable"],
    available: (stream) => stream.workers !== null,
    title: (name) => `Scale ${name}`,
    text: () => "The number of workers that run its tasks. To keep it, set workers.replicas in the values of the release as well.",
    label: "Workers",
    steps: true,
    value: (stream) => String(stream.workers),
    fits: (value) => /^[0-9]{1,3}$/.test(value),
    yes: "Scale it",
    request: (path, value) => ["PUT", `${path}/scale/${value}`],
  },
  delete: {
    states: [...ACTIVE, "stopping", "stopped", "ended", "unreachable", "scaled-down"],
    title: (name) => `Delete ${name}?`,
    text: (stream) =>
      `The ${stream.kind} and its pods are deleted. Its volumes, its Service and the record of the Helm release stay${
        stream.release ? ` until helm uninstall ${stream.release}` : ""
      }. Type the name of the processor to confirm.`,
    label: "Name",
    value: () => "",
    fits: (value, stream) => value === stream.name,
    yes: "Delete it",
    request: (path) => ["DELETE", path],
  },
};

let shown;
let chosen; // the action that the dialog confirms, and its processor

/** Shows the actions that are allowed for a processor; without a processor, none. */
export function offer(stream) {
  shown = stream;
  const focused = document.activeElement;
  for (const [name, action] of Object.entries(ACTIONS)) {
    byId(name).hidden = !stream || !session().actions[name] || !action.states.includes(stream.state) || action.available?.(stream) === false;
  }
  if (focused?.hidden) byId("main").focus();
}

function tell(text) {
  setText(byId("confirm-problem"), text);
  byId("confirm-problem").hidden = false;
}

/** Connects the buttons; `done` is called after each request. */
export function wireActions(done) {
  const dialog = byId("confirm");
  const value = byId("confirm-value");
  const allow = () => {
    const text = value.value.trim();
    byId("confirm-yes").disabled = Boolean(chosen.label) && !chosen.fits(text, chosen.stream);
    byId("confirm-less").disabled = !/^[0-9]+$/.test(text) || Number(text) === 0;
    byId("confirm-more").disabled = !/^[0-9]{1,3}$/.test(text) || text === "999";
  };
  for (const [name, action] of Object.entries(ACTIONS)) {
    byId(name).addEventListener("click", () => {
      chosen = { ...action, stream: shown };
      setText(byId("confirm-title"), action.title(shown.name));
      setText(byId("confirm-text"), action.text(shown));
      setText(byId("confirm-yes"), action.yes);
      setText(byId("confirm-label"), action.label ?? "");
      byId("confirm-ask").hidden = !action.label;
      for (const id of ["confirm-less", "confirm-more"]) byId(id).hidden = !action.steps;
      byId("confirm-yes").hidden = false;
      setText(byId("confirm-no"), "Cancel");
      byId("confirm-problem").hidden = true;
      value.value = action.label ? action.value(shown) : "";
      allow();
      dialog.showModal();
    });
  }
  value.addEventListener("input", allow);
  value.addEventListener("keydown", (event) => event.key === "Enter" && !byId("confirm-yes").hidden && byId("confirm-yes").click());
  for (const [id, step] of [["confirm-less", -1], ["confirm-more", 1]]) {
    byId(id).addEventListener("click", () => {
      value.value = String(Number(value.value.trim()) + step);
      allow();
      if (byId(id).disabled) value.focus();
    });
  }
  byId("confirm-no").addEventListener("click", () => dialog.close());
  byId("confirm-yes").addEventListener("click", async () => {
    byId("confirm-yes").disabled = true;
    try {
      const path = `api/v1/streams/${encodeURIComponent(chosen.stream.id)}`;
      const { warnings } = await send(...chosen.request(path, value.value.trim()));
      if (warnings?.length) {
        tell(`Done. ${warnings.map((text) => `Note: ${text}.`).join(" ")}`);
        byId("confirm-yes").hidden = true;
        setText(byId("confirm-no"), "Close");
        byId("confirm-no").focus();
      } else {
        dialog.close();
      }
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      tell([problem.message, problem.wayOut].filter(Boolean).join(" "));
    }
    allow();
    done();
  });
}
