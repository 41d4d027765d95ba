/** What `work` gives, and the milliseconds it took. */
export function timed<T>(work: () => T): readonly [T, number] {
  const started = performance.now();
  const result = work();
  return [result, performance.now() - started];
}

/** The same with the milliseconds of processor, which other work on the machine changes less. */
export function timedWithCpu<T>(work: () => T): readonly [result: T, ms: number, cpuMs: number] {
  const before = process.cpuUsage();
  const [result, ms] = timed(work);
  const { user, system } = process.cpuUsage(before);
  return [result, ms, (user + system) / 1000];
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
