import { expect } from "vitest";
import type { Answers } from "./testbed.ts";

/** All of the requests were answered with this status, and by no server but those of `place` (`cluster` or `cluster/deployment`). */
export function expectAll(answers: Answers, status: number, place?: string): void {
  expect(Object.keys(answers.status), describeAnswers(answers)).toEqual([String(status)]);
  if (place !== undefined) expect(sharePercent(answers, place), describeAnswers(answers)).toBe(100);
}

/** Share of the answers that servers of `place` gave, in percent. */
export function sharePercent({ servers }: Answers, place: string): number {
  const counts = Object.entries(servers);
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  const there = counts.filter(([server]) => server === place || server.startsWith(`${place}/`)).reduce((sum, [, count]) => sum + count, 0);
  return all === 0 ? 0 : (100 * there) / all;
}

/** Share of the answers with a status, in percent. */
export function statusPercent({ status }: Answers, wanted: number | "failed"): number {
  const all = Object.values(status).reduce((sum, count) => sum + count, 0);
  return all === 0 ? 0 : (100 * (status[String(wanted)] ?? 0)) / all;
}

/** `actual` is what `count` draws with the probability `percent` give, but for chance: at most four standard deviations away. */
export function expectShare(actual: number, percent: number, count: number): void {
  const deviation = 100 * Math.sqrt(((percent / 100) * (1 - percent / 100)) / count);
  expect(actual).toBeGreaterThanOrEqual(percent - 4 * deviation);
  expect(actual).toBeLessThanOrEqual(percent + 4 * deviation);
}

function describeAnswers({ status, servers, errors }: Answers): string {
  return JSON.stringify({ status, servers, errors });
}
