import { displayName } from "@isthmus/core";
import { demoPolicies } from "@isthmus/simulator";
import Table from "cli-table3";
import type { Demo } from "./demo.ts";
import { countsTable, federationTable } from "./outcome.ts";
import { clustersWithTimeout, DEMO_LIMIT_MS, isPolicyApplied, until } from "./waiting.ts";

/** Goes once through a policy's life in the running demo: applied, in force in both clusters, deleted, gone. Prints what there is, and the times. */
export async function check(demo: Demo, readyMs: number, signal: AbortSignal): Promise<void> {
  const limit = { limitMs: DEMO_LIMIT_MS, signal };
  const names = demo.workload.map(({ name }) => name);
  const [shown, timeout] = [displayName(demoPolicies.timeoutPolicy.metadata), "2s"];

  await demo.management.create(demoPolicies.timeoutPolicy);
  const appliedMs = await until(
    `TrafficPolicy ${shown} is in force in ${names.join(" and ")}`,
    async () =>
      (await clustersWithTimeout(demo, timeout)).length === names.length && (await isPolicyApplied(demo, demoPolicies.timeoutPolicy)),
    limit,
  );
  const counts = await countsTable(demo.management, demo.workload);
  const hosts = await federationTable(demo.workload);

  const { apiVersion, kind, metadata } = demoPolicies.timeoutPolicy;
  await demo.management.delete({ apiVersion, kind, name: metadata.name, namespace: metadata.namespace ?? "", clusterName: "" });
  const goneMs = await until(
    `everything generated from TrafficPolicy ${shown} is deleted`,
    async () => (await clustersWithTimeout(demo, timeout)).length === 0,
    limit,
  );

  const times = new Table({ head: ["what", "time"], style: { head: [], border: [], compact: true }, colAligns: ["left", "right"] });
  times.push(
    ["from start until two clusters are federated", seconds(readyMs)],
    [`from creating the TrafficPolicy until it is in force in ${names.join(" and ")}`, seconds(appliedMs)],
    ["from deleting the TrafficPolicy until its effect is gone", seconds(goneMs)],
  );
  for (const table of [counts, hosts, times.toString()]) console.log(`${table}\n`);
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
