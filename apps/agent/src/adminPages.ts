import type { Agent } from "@isthmus/plane";
import { diagnosticsPage, listPage, objectsIn, type Page, snapshotPage } from "@isthmus/process";

/** What the admin port tells of the cluster, to those who may read it. */
export function agentAdminPages(agent: Agent, clusterName: string): Readonly<Record<string, Page>> {
  return {
    "/snapshots/input": snapshotPage(() => [[clusterName, objectsIn(agent.view.snapshot)]]),
    "/snapshots/output": snapshotPage(() => [[clusterName, agent.desired()]]),
    "/evidence": listPage(() => agent.removals.entries.map(({ at, ...entry }) => ({ at: new Date(at).toISOString(), ...entry }))),
    "/diagnostics": diagnosticsPage(),
  };
}
