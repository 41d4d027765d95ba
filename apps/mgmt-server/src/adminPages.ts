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
    "/diagnostics": diagnosticsPage(),
  };
}

function outputs({ world }: Server): readonly (readonly [string, Iterable<Resource>])[] {
  if (world === undefined) return [];
  const { discovery, networking } = world;
  const discovered = discovery.clusters().map((name) => ["discovery", resourcesOf(discovery.inCluster(name))] as const);
  return [...discovered, ...networking.clusters().map((name) => [`networking ${name}`, resourcesOf(networking.inCluster(name))] as const)];
}

function* resourcesOf(outputs: Iterable<{ readonly resource: Resource }>): Iterable<Resource> {
  for (const { resource } of outputs) yield resource;
}
