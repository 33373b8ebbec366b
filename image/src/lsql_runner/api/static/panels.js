// Shows the responses of GET /stream, /metadata and /topology in the panels.

import { byId, el, renew, renewRows, setText } from "./dom.js";
import { NONE, bytes, count, duration, moment, plural, secondsBetween } from "./format.js";
import { sqlLines } from "./program.js";
import { draw } from "./topology.js";

const UNKNOWN = "not known yet";
const NEEDS_REASON = { failed: "bad", restarting: "warn", waiting: "info" };

export function showHead(s) {
  document.title = `${s.appId} – ${s.state}`;
  setText(byId("app-id"), s.appId);
  const words = [`Consumer group ${s.consumerGroupId}`, s.username && `by ${s.username}`, guarantee(s)];
  setText(byId("subtitle"), words.filter(Boolean).join("  ·  "));
  setText(byId("version"), `lsql-runner ${s.version}`);
  showState(s.state);
  const retry = s.nextRestartAt ? `, next try in ${duration(secondsBetween(s.at, s.nextRestartAt))}` : "";
  setText(byId("since"), `for ${duration(secondsBetween(s.since, s.at))}${retry}`);
}

export function showState(state) {
  const pill = byId("state");
  setText(pill, state);
  pill.dataset.state = state;
}

/** The problems: first the reason of the state, then the other reasons of its health. */
export function showReason(s) {
  const box = byId("reason");
  const shown = s.reason?.message;
  const others = s.health.reasons.filter((reason) => reason.text !== shown);
  box.hidden = !s.reason && !others.length;
  box.dataset.level = s.health.status === "failing" ? (NEEDS_REASON[s.state] ?? "bad") : "info";
  renew(box, [s.reason, others], () => [
    ...(s.reason ? [errorText(s.reason)] : []),
    ...others.map((reason) => el("p", {}, el("code", {}, reason.code), ` ${reason.text}`)),
  ]);
}

/** A changed INSERT that is built beside the earlier one. */
export function showChange(s) {
  const box = byId("change");
  const left = s.queries.reduce((sum, query) => sum + query.recordsToRebuild, 0);
  box.hidden = !s.blueGreen;
  box.dataset.level = s.blueGreen?.phase === "failed" ? "bad" : "info";
  renew(box, [s.blueGreen, left], () => {
    switch (s.blueGreen?.phase) {
      case "building":
        return [el("p", {}, `A changed INSERT is built beside the earlier one: it reads ${count(left)} more records again.`)];
      case "ready":
        return [el("p", {}, "A changed INSERT has caught up with the earlier one, and can take over.")];
      case "failed":
        return [el("p", {}, "A changed INSERT has failed before it took over. The earlier one goes on."), errorText(s.blueGreen.error)];
      default:
        return [];
    }
  });
}

function errorText(error) {
  const place = error.position ? ` Line ${error.position.line}, column ${error.position.column}.` : "";
  return el(
    "div",
    {},
    el("p", { class: "message" }, error.message + place),
    el("p", { class: "way-out" }, error.wayOut, " ", el("code", {}, error.code)),
  );
}

export function showSql(s) {
  const marked = s.reason?.position?.line;
  renew(byId("sql"), [s.sql, marked], () => sqlLines(s.sql, marked));
}

export function showOffsets(s) {
  const most = Math.max(1, ...s.offsets.map((o) => o.lag ?? 0));
  setText(byId("offsets-note"), s.offsets.length ? `lag ${count(s.lag)} in total` : UNKNOWN);
  const repeated = new Set(s.offsets.filter((o, index) => s.offsets[index - 1]?.topic === o.topic));
  renewRows(
    byId("offsets").tBodies[0],
    s.offsets,
    (o) => `${o.topic}/${o.partition}`,
    (o) => [
      { text: o.topic, header: true, class: repeated.has(o) ? "repeated" : undefined },
      { text: count(o.partition), class: "number" },
      { text: count(o.position), class: "number" },
      { text: count(o.end), class: "number" },
      { text: count(o.lag), class: "number lag", "data-share": Math.ceil(((o.lag ?? 0) / most) * 10) },
    ],
  );
}

export function showTopics(s) {
  setText(byId("topics-note"), s.topics.length ? "" : UNKNOWN);
  renewRows(
    byId("topics").tBodies[0],
    s.topics,
    (t) => `${t.role}/${t.topic}`,
    (t) => [
      { text: t.topic, header: true },
      { text: t.role, class: "role" },
      { text: `${t.keyFormat}\n${t.keyType}`, class: "type lined" },
      { text: `${t.valueFormat}\n${t.valueType}`, class: "type lined" },
      { text: t.schemaOrigin + (t.partitions === null ? "" : `\n${plural(t.partitions, "partition")}`), class: "lined" },
    ],
  );
}

export function showStores(stores, planned) {
  setText(byId("stores-note"), stores.length ? "" : planned ? "the program keeps no state" : UNKNOWN);
  renewRows(
    byId("stores").tBodies[0],
    stores,
    (store) => `${store.query}/${store.name}`,
    (store) => [
      { text: store.name, header: true },
      { text: `${store.keySchema} → ${store.valueSchema}`, class: "type" },
      { text: count(store.rows), class: "number" },
      { text: bytes(store.bytes), class: "number" },
    ],
  );
}

function processing(s) {
  if (!s.continuous) return "in batches";
  return s.stateful ? "record by record; with state in batches" : "record by record";
}

function workers({ workers, scaling }) {
  const words = [count(workers.length)];
  if (scaling) words.push(scaling.wanted === null ? "wanted number not known" : `${count(scaling.wanted)} wanted`);
  if (scaling?.dryRun) words.push("dry run");
  return words.join(", ");
}

export function showFacts(s) {
  const behind = s.watermark && secondsBetween(s.watermark, s.at);
  const facts = [
    ["Started", moment(s.startedAt)],
    ["Delivery", guarantee(s)],
    ["Processing", processing(s)],
    ["Watermark", s.watermark ? `${duration(behind)} behind (${moment(s.watermark).slice(11)})` : NONE],
    ["Late records dropped", count(s.lateRecordsDropped)],
    ["Restarts", count(s.restarts)],
    ["State", s.stateful ? `generation ${count(s.generation)}` : s.topics.length ? "none kept" : NONE],
    ["Runners", count(s.runners)],
    ["Workers", s.workers && workers(s)],
  ];
  renewFacts(byId("facts"), facts);
}

/** Updates a list of names and values; the names are always the same. One without a value is hidden. */
export function renewFacts(list, facts) {
  if (!list.childElementCount) {
    list.append(...facts.map(([name]) => el("div", {}, el("dt", {}, name), el("dd"))));
  }
  facts.forEach(([, value], index) => {
    list.children[index].hidden = value === null;
    setText(list.children[index].lastChild, value ?? "");
  });
}

export function showNotes(s) {
  renew(byId("notes"), [s.warnings, s.lastError], () => {
    const notes = s.warnings.map((text) => el("p", { class: "warning" }, text));
    if (s.lastError) notes.push(el("div", { class: "error" }, el("p", { class: "muted" }, moment(s.lastError.at)), errorText(s.lastError)));
    return notes.length ? notes : [el("p", { class: "muted" }, "None.")];
  });
}

export function showTopology(topology) {
  const known = topology.nodes.length > 0;
  setText(byId("topology-note"), known ? "" : UNKNOWN);
  renew(byId("topology"), topology, () => (known ? [draw(topology)] : []));
  byId("plan").hidden = !topology.plan;
  setText(byId("plan-text"), topology.plan);
}

const guarantee = (s) => s.deliveryGuarantee.replaceAll("_", " ");
