// A program as coloured lines.

import { el } from "./dom.js";
import { lines } from "./sql.js";

/** An element for each line of `sql`; the line numbered `marked` (from 1) stands out. */
export function sqlLines(sql, marked) {
  return lines(sql).map((pieces, index) =>
    el(
      "span",
      { class: index + 1 === marked ? "line marked" : "line" },
      ...pieces.map(({ kind, text }) => (kind === "plain" ? text : el("span", { class: kind }, text))),
      "\n",
    ),
  );
}
