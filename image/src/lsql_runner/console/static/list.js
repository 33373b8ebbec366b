// The table of all processors: filters, sorting, and rows that are updated in place.

import { COLUMNS, fits, sorted } from "./columns.js";
import { byId, el, renew, setText } from "./dom.js";
import { plural } from "./format.js";

let rows = [];
let order = { column: 2, descending: false };
const shown = new Map(); // by id: the row's element and its cells

/** Shows the rows of GET streams. */
export function showList(streams) {
  rows = streams;
  setOptions("by-state", [...new Set(rows.map((row) => row.state))].sort());
  setOptions("by-namespace", [...new Set(rows.map((row) => row.namespace))].sort());
  draw();
}

/** Connects the filters and the column headers. */
export function wireList() {
  byId("processors").tHead.rows[0].append(
    ...COLUMNS.map((column, index) => {
      const button = el("button", { type: "button", class: "sort" }, column.title);
      button.addEventListener("click", () => sortBy(index));
      return el("th", { scope: "col", class: column.class }, button);
    }),
  );
  for (const id of ["search", "by-state", "by-namespace", "by-violations"]) byId(id).addEventListener("input", draw);
}

function sortBy(column) {
  order = { column, descending: order.column === column && !order.descending };
  draw();
}

function draw() {
  const filter = {
    words: byId("search").value.toLowerCase().split(/\s+/).filter(Boolean),
    state: byId("by-state").value,
    namespace: byId("by-namespace").value,
    violations: byId("by-violations").checked,
  };
  const found = sorted(rows.filter((row) => fits(row, filter)), order.column, order.descending);
  const elements = found.map(renewRow);
  const body = byId("processors").tBodies[0];
  if (elements.length !== body.rows.length || elements.some((element, index) => body.rows[index] !== element)) {
    keepFocus(() => body.replaceChildren(...elements));
  }
  const known = new Set(rows.map(keyOf));
  for (const id of shown.keys()) if (!known.has(id)) shown.delete(id);
  [...byId("processors").tHead.rows[0].cells].forEach((cell, index) => {
    const direction = index !== order.column ? "none" : order.descending ? "descending" : "ascending";
    cell.setAttribute("aria-sort", direction);
  });
  setText(byId("count"), found.length === rows.length ? plural(rows.length, "processor") : `${found.length} of ${rows.length}`);
  byId("nothing").hidden = found.length > 0;
  setText(byId("nothing"), rows.length ? "No processor matches the filter." : "There are no processors in these namespaces yet.");
}

const keyOf = (row) => `${row.namespace}/${row.kind}/${row.name}/${row.id}`;

function renewRow(row) {
  let { element, cells } = shown.get(keyOf(row)) ?? {};
  if (!element) {
    cells = COLUMNS.map((column) => {
      const cell = el(column.header ? "th" : "td", { class: column.class, scope: column.header && "row" });
      const inner = column.build?.(row);
      if (inner) cell.append(inner);
      return { cell, inner: inner ?? cell };
    });
    element = el("tr", {}, ...cells.map(({ cell }) => cell));
    shown.set(keyOf(row), { element, cells });
  }
  COLUMNS.forEach((column, index) => {
    const { inner } = cells[index];
    setText(inner, column.text(row));
    if (column.mark) inner.dataset.state = column.mark(row);
  });
  return element;
}

/** Rows that move are removed and inserted again; the focus returns to the row that had it. */
function keepFocus(change) {
  const focused = document.activeElement;
  change();
  if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
}

/** Sets the options of a filter; the chosen one stays, even if no row has its value. */
function setOptions(id, values) {
  const select = byId(id);
  const chosen = select.value;
  const all = chosen && !values.includes(chosen) ? [...values, chosen] : values;
  renew(select, all, () => [el("option", { value: "" }, "all"), ...all.map((value) => el("option", { value }, value))]);
  select.value = chosen;
}
