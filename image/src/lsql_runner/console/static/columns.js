// The columns of the table of processors: the text of each cell, and the value to sort by.

import { el } from "./dom.js";
import { NONE, count, figure, plural } from "./format.js";

const SEVERITY = ["failed", "unreachable", "restarting", "starting", "stopping", "waiting", "standby", "running", "stopped", "ended", "scaled-down", "deleted"];

const rate = (n) => (n === null ? NONE : figure(n));
const firstTopics = (topics) => (topics.length > 2 ? `${topics.slice(0, 2).join(", ")} +${topics.length - 2}` : topics.join(", "));

/**
 * {title, text(row), by(row), class, header, build(row), mark(row)}: `by` is the value to sort by; `build` creates the
 * element of a cell once, `text` is set at each refresh; `mark` is the state that determines the colour.
 */
export const COLUMNS = [
  {
    title: "Processor",
    text: (row) => row.name,
    by: (row) => row.name,
    build: (row) => el("a", { href: `#/p/${encodeURIComponent(row.id)}` }),
    header: true,
  },
  { title: "Namespace", text: (row) => row.namespace, by: (row) => row.namespace },
  {
    title: "State",
    text: (row) => row.state,
    by: (row) => SEVERITY.indexOf(row.state),
    build: () => el("span", { class: "pill" }),
    mark: (row) => row.state,
  },
  { title: "Lag", text: (row) => count(row.lag), by: (row) => row.lag ?? -1, class: "number" },
  { title: "In/s", text: (row) => rate(row.recordsInPerSecond), by: (row) => row.recordsInPerSecond ?? -1, class: "number" },
  { title: "Out/s", text: (row) => rate(row.recordsOutPerSecond), by: (row) => row.recordsOutPerSecond ?? -1, class: "number" },
  { title: "Reads", text: (row) => firstTopics(row.topicsIn), by: (row) => row.topicsIn.join(), class: "topics" },
  { title: "Writes", text: (row) => firstTopics(row.topicsOut), by: (row) => row.topicsOut.join(), class: "topics" },
  { title: "User", text: (row) => row.user, by: (row) => row.user },
  { title: "Version", text: (row) => row.imageVersion || row.runnerVersion, by: (row) => row.imageVersion },
  { title: "Notes", text: notes, by: (row) => -row.violations.length, class: "notes-cell" },
];

function notes(row) {
  return [
    row.violations.length && plural(row.violations.length, "violation"),
    row.legacy && "legacy",
    row.created === "outside" && !row.legacy && (row.createdBy === "unknown" ? "by hand" : `by ${row.createdBy}`),
  ]
    .filter(Boolean)
    .join(", ");
}

const searched = (row) =>
  [row.name, row.namespace, row.user, row.pipeline, row.release, row.appId, row.id, ...row.topicsIn, ...row.topicsOut]
    .join("\n")
    .toLowerCase();

/** Whether a row matches the filter. */
export function fits(row, { words, state, namespace, violations }) {
  if (state && row.state !== state) return false;
  if (namespace && row.namespace !== namespace) return false;
  if (violations && !row.violations.length) return false;
  const text = words.length ? searched(row) : "";
  return words.every((word) => text.includes(word));
}

/** The rows sorted by a column, then by namespace and name. */
export function sorted(rows, column, descending) {
  const { by } = COLUMNS[column];
  const sign = descending ? -1 : 1;
  const compare = (a, b) => (typeof a === "number" ? a - b : String(a).localeCompare(String(b)));
  return [...rows].sort(
    (a, b) => sign * compare(by(a), by(b)) || a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name),
  );
}
