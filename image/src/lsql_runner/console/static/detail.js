// Shows one processor: its workload, charts and events.

import { chart } from "./chart.js";
import { Problem, get } from "./client.js";
import { byId, el, renew, renewRows, setText } from "./dom.js";
import { NONE, bytes, count, duration, moment, secondsBetween } from "./format.js";
import { sqlLines } from "./program.js";
import { session } from "./session.js";
import { draw } from "./topology.js";

const SILENT = new Set(["unreachable", "deleted", "scaled-down"]);
const LEVELS = { failed: "bad", unreachable: "warn", restarting: "warn", deleted: "warn" };

const BY = { "lsql-runner": "by this project's chart", helm: "by another chart", kubectl: "by kubectl", unknown: "unknown" };

let topologyShown = "";
let logShown = "";

/** Fetches a processor and shows it; returns its entry. */
export async function showDetail(id) {
  const path = `api/v1/streams/${encodeURIComponent(id)}`;
  const [stream, history, events] = await Promise.all([get(path), get(`${path}/history`), get(`${path}/events`)]);
  showHead(stream);
  showReason(stream);
  showCharts(history, Date.parse(stream.seenAt));
  showProgram(stream);
  showViolations(stream);
  showFacts(stream);
  showEvents(events);
  await Promise.all([showTopology(path, stream), showStores(path, stream), showLogsOnce(path, stream)]);
  return stream;
}

/** Fetches the log and shows it. */
export async function showLogs(path) {
  try {
    const { pod, lines } = await get(`${path}/logs`);
    setText(byId("logs-note"), pod || "no pod");
    setText(byId("logs"), lines.join("\n"));
    byId("logs").scrollTop = byId("logs").scrollHeight;
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    setText(byId("logs-note"), problem.message);
  }
}

function showHead(stream) {
  document.title = `${stream.name} – ${stream.state}`;
  setText(byId("title"), stream.name);
  setText(byId("subtitle"), [stream.namespace, stream.kind, stream.user && `by ${stream.user}`].filter(Boolean).join("  ·  "));
  const pill = byId("state");
  pill.hidden = false;
  setText(pill, stream.state);
  pill.dataset.state = stream.state;
  const from = stream.deletedAt ?? stream.since;
  setText(byId("since"), from ? `for ${duration(secondsBetween(from, stream.deletedAt ? new Date().toISOString() : stream.seenAt))}` : "");
}

function showReason(stream) {
  const box = byId("reason");
  const reasons = [stream.reason?.message, stream.reason?.wayOut, stream.unreachable, ...stream.healthReasons].filter(Boolean);
  if (stream.deletedAt) reasons.unshift(`The workload was deleted; first noticed at ${moment(stream.deletedAt)}.`);
  box.hidden = !reasons.length;
  box.dataset.level = LEVELS[stream.state] ?? (stream.healthy === false ? "bad" : "info");
  renew(box, reasons, () => [...new Set(reasons)].map((text) => el("p", {}, text)));
}

function showCharts(history, now) {
  const of = (name) => history.map((point) => ({ at: point.atMs, value: point[name] }));
  const rates = [
    { name: "in", points: of("recordsInPerSecond") },
    { name: "out", points: of("recordsOutPerSecond") },
  ];
  byId("lag-chart").replaceChildren(chart("Lag", "records", [{ name: "lag", points: of("lag") }], now));
  byId("rate-chart").replaceChildren(chart("Rate", "records per second", rates, now));
}

function showProgram(stream) {
  const note = stream.sql === null ? "not in the workload" : stream.sqlTruncated ? `first part of ${count(stream.sqlChars)} characters` : "";
  setText(byId("sql-note"), note);
  renew(byId("sql"), stream.sql, () => (stream.sql ? sqlLines(stream.sql) : []));
}

function showViolations(stream) {
  renew(byId("violations"), stream.violations, () =>
    stream.violations.length
      ? stream.violations.map(({ code, text }) => el("p", { class: "warning" }, text, " ", el("code", {}, code)))
      : [el("p", { class: "muted" }, "No violations.")],
  );
}

function showFacts(stream) {
  const facts = [
    ["Id", stream.id],
    ["Release", stream.release || NONE],
    ["Chart", stream.chart ? `${stream.chart} ${stream.chartVersion}` : NONE],
    ["Image", stream.imageVersion || stream.image || NONE],
    ["Runner", stream.runnerVersion || NONE],
    ["Runners", count(stream.runners)],
    ["Workers", workersText(stream)],
    ["Consumer group", stream.appId || NONE],
    ["Pipeline", stream.pipeline || NONE],
    ["Created", `${BY[stream.createdBy] ?? stream.createdBy}${stream.legacy ? " (legacy)" : ""}`],
    ["First seen", moment(stream.firstSeenAt)],
    ["Reads", stream.topicsIn.join(", ") || NONE],
    ["Writes", stream.topicsOut.join(", ") || NONE],
  ];
  const error = stream.lastError;
  if (error) facts.push(["Last error", `${error.at ? `${moment(error.at)}: ` : ""}${error.message}`]);
  renew(byId("facts"), facts, () => facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function workersText({ workers, scaling }) {
  if (workers === null) return NONE;
  const wanted = scaling?.wanted ?? null;
  if (wanted === null) return count(workers);
  const rate = scaling.workerRatePerSecond ?? null; // older runners do not report it
  const each = rate === null ? "" : `, ${count(Math.round(rate))} records/s each`;
  return `${count(workers)}, ${count(wanted)} wanted${scaling.dryRun ? " (dry run)" : ""}${each}`;
}

function showEvents(events) {
  renewRows(
    byId("events").tBodies[0],
    events,
    (event) => `${event.at}/${event.kind}/${event.text}`,
    (event) => [{ text: moment(event.at).slice(5, 19), class: "when" }, event.text],
  );
}

async function showTopology(path, stream) {
  const key = JSON.stringify([path, stream.state, stream.topicsIn]);
  if (key === topologyShown) return;
  const topology = await fromRunner(stream, `${path}/topology`);
  topologyShown = topology ? key : "";
  const known = topology?.nodes.length > 0;
  setText(byId("topology-note"), known ? "" : "not known until the runner has resolved its topics");
  renew(byId("topology"), topology, () => (known ? [draw(topology)] : []));
}

async function showStores(path, stream) {
  const stores = (await fromRunner(stream, `${path}/stores`)) ?? [];
  setText(byId("stores-note"), stores.length ? "" : SILENT.has(stream.state) ? "not known" : "the program keeps no state");
  renewRows(
    byId("stores").tBodies[0],
    stores,
    (store) => store.name,
    (store) => [
      { text: store.name, header: true },
      { text: count(store.rows), class: "number" },
      { text: bytes(store.bytes), class: "number" },
    ],
  );
}

async function showLogsOnce(path, stream) {
  const available = session().logs && stream.state !== "deleted";
  byId("logs-panel").hidden = !available;
  if (!available || logShown === path) return;
  logShown = path;
  await showLogs(path);
}

/** A response of the runner; null if the runner does not respond. */
async function fromRunner(stream, path) {
  if (SILENT.has(stream.state)) return null;
  try {
    return await get(path);
  } catch (problem) {
    if (!(problem instanceof Problem) || problem.status === 401) throw problem;
    return null;
  }
}

/** Clears the page before another processor is shown. */
export function forget() {
  topologyShown = "";
  logShown = "";
  for (const id of ["sql", "topology", "logs", "lag-chart", "rate-chart"]) {
    byId(id).replaceChildren();
    byId(id).renewedFor = undefined;
  }
}
