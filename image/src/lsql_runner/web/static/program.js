// Shows a program with highlighted syntax, line by line.

import { el } from "./dom.js";
import { lines } from "./sql.js";

/** An element for each line of `sql`; the line with the number `marked` (from 1) is highlighted. */
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
