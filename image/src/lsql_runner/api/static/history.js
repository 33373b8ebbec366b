// The last hour of a value: the samples of GET /history, then the current value.

const SHORTEST_MS = 60_000; // a curve spans at least this: a processor that has just started has no samples
const GAP_MS = 60_000; // points further apart than this are not connected

export class History {
  #samples = [];
  #now = [];

  /** Sets the samples: [{at, value}] with times in ms. Samples without a value are left out. */
  replace(samples) {
    this.#samples = samples.filter((sample) => sample.value !== null);
  }

  /** Sets the current value, at a time in ms. */
  setCurrent(at, value) {
    this.#samples = this.#samples.filter((sample) => sample.at <= at);
    this.#now = [{ at, value }];
  }

  get points() {
    return [...this.#samples, ...this.#now];
  }

  /** The time between the first and the last point, in ms; at least one minute. */
  get span() {
    const { points } = this;
    return points.length ? Math.max(SHORTEST_MS, points.at(-1).at - points[0].at) : SHORTEST_MS;
  }

  get peak() {
    return Math.max(0, ...this.points.map((point) => point.value));
  }

  get least() {
    const { points } = this;
    return points.length ? Math.min(...points.map((point) => point.value)) : 0;
  }

  /** The points as lists without gaps. */
  get runs() {
    const runs = [];
    let last;
    for (const point of this.points) {
      if (last && point.at - last.at <= GAP_MS) runs.at(-1).push(point);
      else runs.push([point]);
      last = point;
    }
    return runs;
  }

  /** The point closest to a time. */
  near(at) {
    return this.points.reduce(
      (best, point) => (!best || Math.abs(point.at - at) < Math.abs(best.at - at) ? point : best),
      undefined,
    );
  }
}
