import type { AccessLogSink } from "@isthmus/dataplane";
import type { Agent } from "@isthmus/plane";
import { diagnosticsPage, listPage, objectsIn, type Page, snapshotPage } from "@isthmus/process";
import { accessLogPage } from "./accessLogs.ts";

/** What the admin port tells of the cluster, to those who may read it. */
export function agentAdminPages(
  agent: Agent,
  clusterName: string,
  accessLogs: () => AccessLogSink | undefined,
): Readonly<Record<string, Page>> {
  return {
    "/snapshots/input": snapshotPage(() => [[clusterName, objectsIn(agent.view.snapshot)]]),
    "/snapshots/output": snapshotPage(() => [[clusterName, agent.desired()]]),
    "/evidence": listPage(() => agent.removals.entries.map(({ at, ...entry }) => ({ at: new Date(at).toISOString(), ...entry }))),
    "/access-logs": accessLogPage(accessLogs, clusterName),
    "/diagnostics": diagnosticsPage(),
  };
}
