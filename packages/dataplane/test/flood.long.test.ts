import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it, vi } from "vitest";
import { inbound, introduction, message } from "./messages.ts";
import { metricValue, startSink } from "./runningSink.ts";

const LIMITS = { entriesPerProxy: 50, proxies: 5_000, bytes: 4 * 1024 * 1024 };

it("takes a flood of 60,000 entries of 600 claimed pods within its memory, and still answers", async () => {
  const running = await startSink(() => [], { limits: LIMITS });
  try {
    const batch = Array.from({ length: 100 }, (_, i) => inbound(200 + (i % 300), { request: { path: `/${"x".repeat(400)}` } }));
    const rest = message(batch);
    const streams = Array.from({ length: 60 }, () => running.stream().call);
    collectGarbage();
    const before = process.memoryUsage();
    for (let round = 0; round < 10; round++) {
      for (const [i, call] of streams.entries()) {
        // A stream may be introduced again: so few connections stand for many pods.
        call.write(message([inbound(200)], introduction(`pod-${i}-${round}`)));
        call.write(rest);
      }
      await sleep(1);
    }
    await vi.waitFor(
      () => expect(metricValue(running.sink.metrics(), "gloo_mesh_access_log_entries_total", { verified: "false" })).toBe(600 * 51),
      { timeout: 60_000 },
    );
    expect(metricValue(running.sink.metrics(), "gloo_mesh_access_log_bytes")).toBeLessThanOrEqual(LIMITS.bytes);
    const dropped = (reason: string) => metricValue(running.sink.metrics(), "gloo_mesh_access_log_entries_dropped_total", { reason });
    expect(dropped("Memory")).toBeGreaterThan(0);
    // Of each message of 100 entries, 50 are passed over; and they displace the one before them.
    expect(dropped("Ring")).toBe(600 * 51);
    // What is kept is outside of the heap: far less than what was sent, 24 MB. It is swept beside what runs.
    await vi.waitFor(
      () => {
        collectGarbage();
        expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(2 * LIMITS.bytes);
      },
      { timeout: 5_000, interval: 200 },
    );
    expect(running.sink.query({ limit: 10 }).entries).toHaveLength(10);
  } finally {
    await running.stop();
  }
});

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}
