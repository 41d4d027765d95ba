import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import type { Page } from "./pages.ts";

/** How the process itself is: the event loop's delay since the last look, memory, and what keeps it busy. */
export function diagnosticsPage(): Page {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  return () => {
    const milliseconds = (nanoseconds: number) => Math.round(nanoseconds / 1e4) / 100;
    const eventLoopDelayMs = {
      mean: milliseconds(delay.mean || 0),
      p50: milliseconds(delay.percentile(50)),
      p99: milliseconds(delay.percentile(99)),
      max: milliseconds(delay.max),
    };
    delay.reset();
    const active: Record<string, number> = {};
    for (const name of process.getActiveResourcesInfo()) active[name] = (active[name] ?? 0) + 1;
    const { heap_size_limit: heapLimit, malloced_memory: malloced, number_of_detached_contexts: detachedContexts } = getHeapStatistics();
    const heapSpaces = Object.fromEntries(getHeapSpaceStatistics().map((space) => [space.space_name, space.space_used_size]));
    const { user, system } = process.cpuUsage();
    const facts = {
      node: process.version,
      uptimeSeconds: Math.round(process.uptime()),
      cpuSeconds: { user: user / 1e6, system: system / 1e6 },
      eventLoopDelayMs,
      memoryBytes: { ...process.memoryUsage(), heapLimit, malloced },
      heapSpaces,
      detachedContexts,
      active,
    };
    return [`${JSON.stringify(facts, undefined, 2)}\n`];
  };
}
