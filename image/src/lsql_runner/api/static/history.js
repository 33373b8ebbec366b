// The last minutes of a figure, kept in this page alone.

export const SPAN_MS = 5 * 60_000;
const GAP_MS = 15_000; // nothing for so long (a hidden tab, a lost connection) leaves a gap in the curve

export class History {
  #points = [];

  /** Notes a value at a time in ms. */
  add(at, value) {
    this.#points.push({ at, value });
    while (this.#points[0].at < at - SPAN_MS) this.#points.shift();
  }

  get points() {
    return this.#points;
  }

  get peak() {
    return Math.max(0, ...this.#points.map((point) => point.value));
  }

  get least() {
    return this.#points.length ? Math.min(...this.#points.map((point) => point.value)) : 0;
  }

  /** The points as unbroken runs. */
  get runs() {
    const runs = [];
    let last;
    for (const point of this.#points) {
      if (last && point.at - last.at <= GAP_MS) runs.at(-1).push(point);
      else runs.push([point]);
      last = point;
    }
    return runs;
  }

  /** The point next to a time. */
  near(at) {
    return this.#points.reduce(
      (best, point) => (!best || Math.abs(point.at - at) < Math.abs(best.at - at) ? point : best),
      undefined,
    );
  }
}
