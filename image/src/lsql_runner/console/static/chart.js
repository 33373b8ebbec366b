// A chart of the last hour as SVG: axes, and an area or several lines with gaps where values are missing.

import { svg } from "./dom.js";
import { figure } from "./format.js";

const SPAN_MS = 3_600_000;
const GAP_MS = 180_000;
const WIDTH = 640;
const HEIGHT = 168;
const LEFT = 50;
const RIGHT = WIDTH - 10;
const TOP = 12;
const BOTTOM = HEIGHT - 22;
const MINUTES = [60, 45, 30, 15, 0];

/** An SVG of `series` ({name, points: [{at, value}]}) up to the time `now`. */
export function chart(title, unit, series, now) {
  const values = series.flatMap(({ points }) => points.map((point) => point.value)).filter((value) => value !== null);
  const top = niceTop(Math.max(0, ...values));
  const x = (at) => round(RIGHT - ((now - at) / SPAN_MS) * (RIGHT - LEFT));
  const y = (value) => round(BOTTOM - (value / top) * (BOTTOM - TOP));
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": inWords(title, unit, series) },
    ...[0, top / 2, top].map((value) => level(value, y(value))),
    ...MINUTES.map((minutes) => tick(minutes, x(now - minutes * 60_000))),
    ...series.flatMap(({ points }, index) => curve(runs(points), index, series.length === 1, x, y)),
  );
}

function curve(segments, index, filled, x, y) {
  const drawn = segments.map((run) => run.map(({ at, value }) => `${x(at)} ${y(value)}`));
  const line = drawn.map((points) => `M${points.join("L")}${points.length === 1 ? "h.01" : ""}`).join("");
  const floor = (run, points) => `M${x(run[0].at)} ${BOTTOM}L${points.join("L")}L${x(run.at(-1).at)} ${BOTTOM}Z`;
  const area = filled && svg("path", { class: "area", d: segments.map((run, at) => floor(run, drawn[at])).join("") });
  return [area || null, svg("path", { class: "curve", "data-series": index, d: line })];
}

/** The points as lists without gaps. */
function runs(points) {
  const found = [];
  let last = null;
  for (const point of points) {
    if (point.value === null) {
      last = null;
      continue;
    }
    if (last && point.at - last.at <= GAP_MS) found.at(-1).push(point);
    else found.push([point]);
    last = point;
  }
  return found;
}

const level = (value, at) =>
  svg("g", {}, svg("path", { class: "level", d: `M${LEFT} ${at}H${RIGHT}` }), svg("text", { class: "axis", x: LEFT - 7, y: at + 3.5, "text-anchor": "end" }, figure(value)));

const tick = (minutes, at) =>
  svg("text", { class: "axis", x: at, y: HEIGHT - 6, "text-anchor": minutes ? "middle" : "end" }, minutes ? `−${minutes} min` : "now");

/** The next of 1, 2, 5 times a power of ten, so that the axis does not change with each value. */
function niceTop(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}

function inWords(title, unit, series) {
  const described = series.map(({ name, points }) => {
    const known = points.filter((point) => point.value !== null).map((point) => point.value);
    if (!known.length) return `${name}: no values`;
    return `${name}: now ${figure(known.at(-1))}, lowest ${figure(Math.min(...known))}, highest ${figure(Math.max(...known))}`;
  });
  return `${title} over the last hour in ${unit}. ${described.join("; ")}.`;
}

const round = (n) => Math.round(n * 10) / 10;
