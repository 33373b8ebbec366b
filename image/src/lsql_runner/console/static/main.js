// The console's page: the table at #/, one processor at #/p/<id>. Polls every few seconds and shows changes.

import { offer, wireActions } from "./actions.js";
import { Problem, poll, revalidate } from "./client.js";
import { forget, showDetail, showLogs } from "./detail.js";
import { byId, el, renew, setText } from "./dom.js";
import { moment } from "./format.js";
import { showList, wireList } from "./list.js";
import { enter, session, wireSession } from "./session.js";

const EVERY_MS = 5_000;

let shownId; // the id of the processor that the page shows, or "" for the table; only a refresh changes it

const idInAddress = () => decodeURIComponent(/^#\/p\/(.+)$/.exec(location.hash)?.[1] ?? "");

async function refresh() {
  try {
    if (session().user === null && !(await enter())) {
      go(undefined);
      return;
    }
    go(idInAddress());
    await (shownId ? showOne(shownId) : showAll());
    byId("connection").hidden = true;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 401) {
      await enter();
      go(undefined);
    } else {
      setText(byId("connection"), `${error.message} ${error.wayOut ?? ""}`.trim());
      byId("connection").hidden = false;
      if (error.status === 404) offer(undefined);
    }
  }
}

async function showAll() {
  const found = await revalidate("api/v1/streams");
  showList(found.streams);
  setText(byId("subtitle"), found.namespaces.length > 4 ? `${found.namespaces.length} namespaces` : found.namespaces.join("  ·  "));
  setText(byId("seen"), `seen at ${moment(found.at)}`);
  const failures = [...found.failures, ...(found.problem ? [{ namespace: "The cluster", text: found.problem }] : [])];
  byId("failures").hidden = !failures.length;
  renew(byId("failures"), failures, () =>
    failures.map(({ namespace, text }) => el("p", {}, el("strong", {}, namespace), " cannot be read: ", text, ". Its rows are out of date.")),
  );
}

async function showOne(id) {
  const stream = await showDetail(id);
  setText(byId("seen"), `seen at ${moment(stream.seenAt)}`);
  offer(stream);
}

/** Shows the table, one processor, or (undefined) neither. */
function go(to) {
  if (shownId === to) return;
  const first = shownId === undefined;
  shownId = to;
  byId("list").hidden = to !== "";
  byId("detail").hidden = !to;
  byId("failures").hidden = true;
  offer(undefined);
  forget();
  if (!to) {
    document.title = "LSQL processors";
    setText(byId("title"), "LSQL processors");
    setText(byId("subtitle"), "");
    setText(byId("since"), "");
    byId("state").hidden = true;
  }
  if (!first && to !== undefined) byId("main").focus();
}

wireList();
const refreshNow = poll(refresh, EVERY_MS);
wireActions(refreshNow);
wireSession(refreshNow);
window.addEventListener("hashchange", refreshNow);
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
byId("logs-again").addEventListener("click", () => showLogs(`api/v1/streams/${encodeURIComponent(shownId)}`));
