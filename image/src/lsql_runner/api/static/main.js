// The processor's page: polls GET /stream and /metadata every two seconds, GET /history for each new sample, and GET
// /topology when the topics change.

import { offer, wire } from "./actions.js";
import { Problem, get, poll } from "./client.js";
import { byId, setText } from "./dom.js";
import { duration } from "./format.js";
import { offerLookup, wireLookup } from "./lookup.js";
import { showMemory } from "./memory.js";
import * as panels from "./panels.js";
import { placeTiles, replaceHistory, updateTiles } from "./tiles.js";

const EVERY_MS = 2_000;

let lastResponseAt = Date.now();
let shownTopology;
let nextSampleAt = 0;

async function refresh() {
  try {
    await show(await get("stream"));
    lastResponseAt = Date.now();
    byId("connection").hidden = true;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    showLost(error);
  }
}

async function show(stream) {
  panels.showHead(stream);
  panels.showReason(stream);
  panels.showChange(stream);
  panels.showSql(stream);
  panels.showOffsets(stream);
  panels.showTopics(stream);
  panels.showFacts(stream);
  showMemory(stream);
  panels.showNotes(stream);
  await updateHistory(stream);
  updateTiles(stream);
  offer(stream);
  const stores = await get("metadata");
  panels.showStores(stores, stream.topics.length > 0);
  offerLookup(stream, stores);
  const program = JSON.stringify([stream.generation, stream.topics]);
  if (program !== shownTopology) {
    panels.showTopology(await get("topology"));
    shownTopology = program;
  }
}

async function updateHistory(stream) {
  if (Date.parse(stream.at) < nextSampleAt) return;
  const history = await get("history");
  const intervalMs = history.intervalSeconds * 1000;
  nextSampleAt = (Math.floor(Date.parse(history.at) / intervalMs) + 1) * intervalMs;
  replaceHistory(history);
}

function showLost(problem) {
  const silent = duration((Date.now() - lastResponseAt) / 1000);
  panels.showState("unknown");
  setText(byId("since"), "");
  setText(byId("connection"), `No response from the processor for ${silent}: ${problem.message} Trying again every 2 s.`);
  byId("connection").hidden = false;
}

function wireCopy() {
  const button = byId("copy");
  if (!navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(byId("sql").textContent);
    setText(button, "Copied");
    setTimeout(() => setText(button, "Copy"), EVERY_MS);
  });
}

placeTiles();
wireCopy();
wireLookup();
wire(poll(refresh, EVERY_MS));
