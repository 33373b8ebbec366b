// Shows the memory of GET /stream in its panel: the parts of the budget, and what is used of each.

import { byId, renewRows, setText } from "./dom.js";
import { count, mebibytes } from "./format.js";
import { renewFacts } from "./panels.js";

const PARTS = {
  heap: "Heap",
  state_stores: "State stores",
  code_cache: "Compiled code",
  jvm: "Rest of the JVM",
  python: "Python",
  reserve: "Kernel",
};

export function showMemory({ memory }) {
  setText(byId("memory-note"), total(memory));
  renewRows(
    byId("memory").tBodies[0],
    memory.parts,
    (p) => p.part,
    (p) => [
      { text: PARTS[p.part], header: true },
      { text: mebibytes(p.usedBytes), class: "number used", "data-share": share(p) },
      { text: mebibytes(p.budgetBytes), class: "number" },
    ],
  );
  renewFacts(byId("memory-facts"), [
    ["Heap committed", mebibytes(memory.heapCommittedBytes)],
    ["Classes", mebibytes(memory.metaspaceBytes)],
    ["Network buffers", mebibytes(memory.directBuffersBytes)],
    ["Threads of the JVM", count(memory.threads)],
  ]);
}

function total({ measuredAt, privateBytes, limitBytes }) {
  if (measuredAt === null) return "not known yet";
  return limitBytes === null ? `${mebibytes(privateBytes)}, no limit` : `${mebibytes(privateBytes)} of ${mebibytes(limitBytes)}`;
}

/** How much of the budget is used, in tenths. */
const share = ({ usedBytes, budgetBytes }) => Math.min(10, Math.ceil(((usedBytes ?? 0) / Math.max(1, budgetBytes)) * 10));
