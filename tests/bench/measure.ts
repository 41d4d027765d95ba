/** What `work` gives, and the milliseconds it took. */
export function timed<T>(work: () => T): readonly [T, number] {
  const started = performance.now();
  const result = work();
  return [result, performance.now() - started];
}

/** The value below which `percent` of the sample lies (nearest rank). */
export function percentile(sample: readonly number[], percent: number): number {
  const sorted = [...sample].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/** Three significant digits are more than a shared machine can reproduce. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

/** The most memory that this process has held, in MiB. */
export function peakRssMiB(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024);
}
