// The tiles: each shows a current value, a curve of the last hour, and a line below.

import { byId, el, setText } from "./dom.js";
import { count, duration, figure, milliseconds, plural, secondsBetween } from "./format.js";
import { History } from "./history.js";
import { Sparkline } from "./sparkline.js";

const ago = (seconds) => (seconds < 1 ? "just now" : `${duration(seconds)} ago`);
const inMinutes = (ms) => duration(Math.round(ms / 60_000) * 60);
const perSecond = (n) => ({ value: figure(n), unit: "/s" });

/**
 * `of` is the current value in a response of GET /stream, null if it is not known; `sample` is the value in a sample of
 * GET /history; `show` formats a value; `below` is the line below the curve.
 */
const TILES = [
  {
    title: "Records in",
    of: (s) => s.rates.recordsInPerSecond,
    sample: (h) => h.recordsInPerSecond,
    show: perSecond,
    below: (s) => `${count(s.recordsIn)} since start`,
  },
  {
    title: "Records out",
    of: (s) => s.rates.recordsOutPerSecond,
    sample: (h) => h.recordsOutPerSecond,
    show: perSecond,
    below: (s) => `${count(s.recordsOut)} since start`,
  },
  {
    title: "Lag",
    of: (s) => (s.offsets.some((o) => o.lag !== null) ? s.lag : null),
    sample: (h) => h.lag,
    show: (n) => ({ value: figure(n), unit: n === 1 ? "record" : "records" }),
    below: (s) => (s.lag ? `over ${plural(s.offsets.filter((o) => o.lag > 0).length, "partition")}` : "caught up"),
  },
  {
    title: "Batch",
    of: (s) => s.lastBatch?.durationMs ?? null,
    sample: (h) => h.batchMs,
    show: milliseconds,
    below: (s) => `${count(s.batches)} since start, last ${ago(secondsBetween(s.lastBatch.endedAt, s.at))}`,
  },
];

class Tile {
  constructor({ title, of, sample, show, below }) {
    Object.assign(this, { title, of, sample, show, below });
    this.history = new History();
    this.spark = new Sparkline(this.history, (point) => this.#read(point));
    this.value = el("strong");
    this.unit = el("span", { class: "unit" });
    this.foot = el("p", { class: "muted foot-line" });
    const number = el("p", { class: "figure" }, this.value, this.unit);
    this.element = el("article", { class: "tile" }, el("h2", {}, title), number, this.spark.element, this.foot);
  }

  update(stream) {
    const now = this.of(stream);
    if (now === null) {
      setText(this.value, "–");
      setText(this.foot, "not known yet");
      return;
    }
    this.history.setCurrent(Date.parse(stream.at), now);
    const { value, unit } = this.show(now);
    setText(this.value, value);
    setText(this.unit, unit);
    this.usual = this.below(stream);
    if (!this.reading) setText(this.foot, this.usual);
    const [least, peak] = [this.history.least, this.history.peak].map((n) => this.show(n).value);
    this.spark.draw(`${this.title} over the last ${inMinutes(this.history.span)}: now ${value} ${unit}, lowest ${least}, highest ${peak}`);
  }

  replace(samples) {
    this.history.replace(samples.map((sample) => ({ at: Date.parse(sample.at), value: this.sample(sample) })));
  }

  #read(point) {
    this.reading = point !== undefined;
    if (!point) setText(this.foot, this.usual ?? "");
    else {
      const { value, unit } = this.show(point.value);
      setText(this.foot, `${new Date(point.at).toISOString().slice(11, 19)} UTC: ${value} ${unit}`);
    }
  }
}

const tiles = TILES.map((tile) => new Tile(tile));

export function placeTiles() {
  byId("tiles").replaceChildren(...tiles.map((tile) => tile.element));
}

/** Sets the samples of GET /history; the next update shows them. */
export function replaceHistory(history) {
  for (const tile of tiles) tile.replace(history.samples);
}

export function updateTiles(stream) {
  for (const tile of tiles) tile.update(stream);
}
