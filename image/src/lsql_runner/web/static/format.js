// Formats numbers, sizes and times for the pages. Pure functions.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const fine = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export const NONE = "–";

/** 1,234,567 */
export const count = (n) => (n === null || n === undefined ? NONE : whole.format(n));

/** 1,234 up to six digits, then 1.2M: for narrow places. */
export const figure = (n) => (n >= 1_000_000 ? short.format(n) : n < 10 ? fine.format(n) : whole.format(n));

/** 1.2 MB */
export function bytes(n) {
  if (n === null || n === undefined) return NONE;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let step = 0;
  while (n >= 1000 && step < units.length - 1) {
    n /= 1000;
    step += 1;
  }
  return `${step && n < 100 ? fine.format(n) : whole.format(n)} ${units[step]}`;
}

/** 304 MiB: for sizes that are set in MiB. */
export const mebibytes = (n) => (n === null || n === undefined ? NONE : `${whole.format(n / 2 ** 20)} MiB`);

/** Value and unit of a duration: 240 ms, 3.4 s, 2 min. */
export function milliseconds(n) {
  if (n < 1000) return { value: whole.format(n), unit: "ms" };
  if (n < 120_000) return { value: fine.format(n / 1000), unit: "s" };
  return { value: fine.format(n / 60_000), unit: "min" };
}

/** A duration in its two largest units: 12 s, 3 min 20 s, 2 h 5 min, 4 d 2 h. */
export function duration(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return pair(Math.floor(s / 60), "min", s % 60, "s");
  if (s < 86_400) return pair(Math.floor(s / 3600), "h", Math.floor((s % 3600) / 60), "min");
  return pair(Math.floor(s / 86_400), "d", Math.floor((s % 86_400) / 3600), "h");
}

const pair = (a, unitA, b, unitB) => (b ? `${a} ${unitA} ${b} ${unitB}` : `${a} ${unitA}`);

export const secondsBetween = (from, to) => (Date.parse(to) - Date.parse(from)) / 1000;

/** 2026-11-21 09:23:00 UTC */
export const moment = (time) => `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`;

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
