import type { Resource } from "@isthmus/core";
import type { Server } from "@isthmus/plane";
import { diagnosticsPage, listPage, objectsIn, type Page, snapshotPage } from "@isthmus/process";

/** What the admin port tells of the clusters, to those who may read it. */
export function serverAdminPages(server: Server): Readonly<Record<string, Page>> {
  return {
    "/snapshots/input": snapshotPage(() => [
      ["clusters", objectsIn(server.store.snapshot)],
      ["management", objectsIn(server.view.snapshot)],
    ]),
    "/snapshots/output": snapshotPage(() => outputs(server)),
    "/evidence": listPage(() => server.removals.entries.map(({ at, ...entry }) => ({ at: new Date(at).toISOString(), ...entry }))),
    "/certificates": listPage(() => server.certificates({ hasForecasts: true })),
    "/pending": pendingPage(server),
    "/diagnostics": diagnosticsPage(),
  };
}

/**
 * `?cluster=NAME`: what is not written there because the cluster is observed or frozen, the first `limit` of it (default 1,000).
 */
function pendingPage(server: Server): Page {
  return (query) => {
    const asked = Number(query.get("limit") ?? MOST_PENDING);
    const limit = Number.isInteger(asked) && asked > 0 ? Math.min(asked, MOST_PENDING) : MOST_PENDING;
    return listPage(() => firstPending(server.pendingIn(query.get("cluster") ?? ""), limit))(query);
  };
}

function* firstPending(pending: ReturnType<Server["pendingIn"]>, limit: number): Iterable<object> {
  let count = 0;
  for (const { ref, code, message } of pending) {
    if (count++ >= limit) return;
    yield { object: ref, code, message };
  }
}

// As many as replicas tell each other of.
const MOST_PENDING = 1_000;

function outputs({ translation }: Server): readonly (readonly [string, Iterable<Resource>])[] {
  if (translation === undefined) return [];
  const { discovery, networking } = translation;
  const discovered = discovery.clusters().map((name) => ["discovery", resourcesOf(discovery.inCluster(name))] as const);
  return [...discovered, ...networking.clusters().map((name) => [`networking ${name}`, resourcesOf(networking.inCluster(name))] as const)];
}

function* resourcesOf(outputs: Iterable<{ readonly resource: Resource }>): Iterable<Resource> {
  for (const { resource } of outputs) yield resource;
}
