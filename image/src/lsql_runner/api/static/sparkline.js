// A curve of the last hour as SVG: area, line, a dot at the newest value, and a line at the pointer.

import { svg } from "./dom.js";

const WIDTH = 300;
const RIGHT = WIDTH - 4; // space for the dot
const HEIGHT = 44;
const TOP = 4;

export class Sparkline {
  /** `read` is called with the point under the pointer, and with undefined when the pointer leaves. */
  constructor(history, read) {
    this.history = history;
    this.area = svg("path", { class: "area" });
    this.line = svg("path", { class: "line" });
    this.dot = svg("path", { class: "dot" });
    this.cross = svg("path", { class: "cross" });
    this.element = svg(
      "svg",
      {
        class: "spark",
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": "No values yet",
      },
      this.area,
      this.cross,
      this.line,
      this.dot,
    );
    this.element.addEventListener("pointermove", (event) => this.#point(event, read));
    this.element.addEventListener("pointerleave", () => {
      this.cross.setAttribute("d", "");
      read(undefined);
    });
  }

  /** Draws the points of the history; `label` describes the curve for screen readers. */
  draw(label) {
    const { history } = this;
    const newest = history.points.at(-1);
    if (!newest) return;
    this.end = newest.at;
    this.span = history.span;
    const top = history.peak || 1;
    this.x = (at) => round(RIGHT - ((this.end - at) / this.span) * RIGHT);
    this.y = (value) => round(HEIGHT - 2 - (value / top) * (HEIGHT - 2 - TOP));
    const runs = history.runs.map((run) => run.map((point) => `${this.x(point.at)} ${this.y(point.value)}`));
    this.line.setAttribute("d", runs.map((run) => `M${run.join("L")}`).join(""));
    this.area.setAttribute("d", history.runs.map((run, index) => this.#floor(run, runs[index])).join(""));
    this.dot.setAttribute("d", `M${this.x(newest.at)} ${this.y(newest.value)}h.01`);
    this.element.setAttribute("aria-label", label);
  }

  #floor(run, drawn) {
    return `M${this.x(run[0].at)} ${HEIGHT}L${drawn.join("L")}L${this.x(run.at(-1).at)} ${HEIGHT}Z`;
  }

  #point(event, read) {
    const box = this.element.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH;
    const point = this.x && this.history.near(this.end - ((RIGHT - x) / RIGHT) * this.span);
    if (!point) return;
    this.cross.setAttribute("d", `M${this.x(point.at)} 0V${HEIGHT}`);
    read(point);
  }
}

const round = (n) => Math.round(n * 100) / 100;
