// Looks up rows of a state store, for those who may read them.

import { get, withDigits } from "./client.js";
import { byId, el, renew, renewRows, setText } from "./dom.js";
import { count, moment, plural } from "./format.js";

let needsToken = false;
let token = ""; // that the processor has accepted

/** Shows the form if the processor shows rows, with the stores to choose from. */
export function offerLookup(stream, stores) {
  needsToken = stream.reads === "token";
  byId("lookup").hidden = stream.reads === "none" || !stores.length;
  byId("lookup-ask").hidden = !needsToken || token !== "";
  const names = stores.map((store) => store.name);
  renew(byId("lookup-store"), names, () => names.map((name) => el("option", {}, name)));
}

export function wireLookup() {
  byId("lookup").addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = byId("lookup-go");
    button.disabled = true;
    await lookUp(byId("lookup-store").value, byId("lookup-key").value);
    button.disabled = false;
  });
}

async function lookUp(store, key) {
  const given = token || byId("lookup-token").value.trim();
  const query = new URLSearchParams(key ? { key } : {});
  try {
    const answer = await get(`metadata/${encodeURIComponent(store)}?${query}`, needsToken && given, withDigits);
    token = given;
    byId("lookup-ask").hidden = true;
    byId("lookup-token").value = "";
    show(answer);
  } catch (problem) {
    if (problem.status === 401) {
      token = "";
      byId("lookup-ask").hidden = false;
    }
    showRows([]);
    setText(byId("lookup-note"), [problem.message, problem.wayOut].filter(Boolean).join(" "));
  }
}

function show({ rows, cursor, contains }) {
  const missing = contains.lag ? `, of ${moment(contains.plannedAt)}: ${plural(contains.lag, "record")} missing` : "";
  setText(byId("lookup-note"), `${cursor ? `The first ${count(rows.length)} rows` : plural(rows.length, "row")}${missing}`);
  showRows(rows);
}

function showRows(rows) {
  byId("rows").hidden = !rows.length;
  renewRows(
    byId("rows").tBodies[0],
    rows,
    (row) => JSON.stringify([row.key, row.window]),
    (row) => [
      { text: JSON.stringify(row.key), header: true },
      { text: row.window ? `${moment(row.window.start)}\n${moment(row.window.end)}` : "–", class: "lined" },
      { text: row.error ?? JSON.stringify(row.value), class: "type" },
    ],
  );
}
