// Creates and updates elements. Text is inserted as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** An HTML element with attributes and children (elements or text). */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element with attributes and children (elements or text). */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Sets the text only if it differs, so that selections and live regions are not disturbed. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Replaces the children only if `key` differs from the last call. */
export function renew(element, key, build) {
  const text = JSON.stringify(key);
  if (element.renewedFor === text) return;
  element.renewedFor = text;
  element.replaceChildren(...build());
}

/**
 * Updates the rows of a table body to show `items`. `key(item)` identifies a row; only cells whose text differs are
 * changed. `cells(item)` returns a list of texts or of {text, ...attributes}.
 */
export function renewRows(body, items, key, cells) {
  const known = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  const rows = items.map((item) => {
    const row = known.get(key(item)) ?? el("tr", { "data-key": key(item) });
    cells(item).forEach((cell, index) => renewCell(row, index, cell));
    return row;
  });
  if (rows.length !== body.rows.length || rows.some((row, index) => body.rows[index] !== row)) {
    body.replaceChildren(...rows);
  }
}

function renewCell(row, index, cell) {
  const { text, header, ...attributes } = typeof cell === "string" ? { text: cell } : cell;
  const found = row.cells[index] ?? row.appendChild(header ? el("th", { scope: "row" }) : el("td"));
  setText(found, text);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) found.removeAttribute(name);
    else if (found.getAttribute(name) !== String(value)) found.setAttribute(name, value);
  }
}
