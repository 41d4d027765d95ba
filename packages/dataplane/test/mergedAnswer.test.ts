import { expect, it } from "vitest";
import { type AccessLog, type AccessLogAnswer, MAX_ANSWER_BYTES, mergedAnswer, parseAccessLogAnswer } from "../src/index.ts";

function entry(second: number, path = "/"): AccessLog {
  return {
    time: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
    protocol: "http",
    proxy: { namespace: "bookinfo", workloadName: "reviews-v1", podName: "reviews-v1-abc" },
    verified: true,
    source: {},
    destination: {},
    path,
    flags: [],
    logName: "all",
    direction: "inbound",
    receivedBytes: 0,
    sentBytes: 0,
  };
}

const answer = (entries: readonly AccessLog[], complete = true): AccessLogAnswer => ({ entries, complete, received: 10, dropped: 2 });
const secondsOf = ({ entries }: AccessLogAnswer) => entries.map(({ time }) => new Date(time).getUTCSeconds());

it("has the newest entries of all replicas, and says what it does not have", () => {
  const [one, other] = [answer([entry(5), entry(3)]), answer([entry(4), entry(1)])];
  const all = mergedAnswer([one, other], 50, []);
  expect(secondsOf(all)).toEqual([5, 4, 3, 1]);
  expect(all).toMatchObject({ complete: true, received: 20, dropped: 4 });
  expect(all.otherReplicas).toBeUndefined();
  const some = mergedAnswer([one, other], 3, ["agent-3"]);
  expect(secondsOf(some)).toEqual([5, 4, 3]);
  expect(some).toMatchObject({ complete: false, otherReplicas: ["agent-3"] });
  // One replica had more than it answered with.
  expect(mergedAnswer([one, answer([], false)], 50, []).complete).toBe(false);
});

it("is never larger than the answer of one replica may be", () => {
  const large = (seconds: number) => answer(Array.from({ length: 100 }, (_, i) => entry(seconds, String(i).padEnd(8_000, "x"))));
  const merged = mergedAnswer([large(2), large(1)], 500, Array(30).fill("agent-3") as string[]);
  const bytes = new TextEncoder().encode(JSON.stringify(merged));
  expect(bytes.length).toBeLessThan(MAX_ANSWER_BYTES + 1024);
  const read = parseAccessLogAnswer(bytes);
  expect(read).toMatchObject({ complete: false, otherReplicas: Array(20).fill("agent-3") });
  expect(secondsOf(read).slice(0, 100)).toEqual(Array(100).fill(2));
});
