import { TrafficPolicy } from "@isthmus/api";
import { clusterContract } from "@isthmus/testing";
import { simulatedCluster, virtualClock } from "../src/index.ts";

clusterContract("a simulated cluster", async () => {
  const clock = virtualClock();
  const passing = new AbortController();
  const passed = (async () => {
    while (!passing.signal.aborted) await clock.advance(1_000);
  })();
  return {
    cluster: simulatedCluster({ name: "cluster-1", clock, kinds: [TrafficPolicy] }),
    async stop() {
      passing.abort();
      await passed;
    },
  };
});
