import { agentKinds, allKinds, kindOf } from "@isthmus/api";
import type { AnyResource, Kind, Log, Resource } from "@isthmus/core";
import { simulatedCluster, startControllers, virtualClock } from "@isthmus/simulator";

const CONTROLLERS_MS = 5_000;

/** What the agent of a cluster reports once the controllers are done with what users applied. */
export async function reportedCluster(name: string, applied: readonly Resource[]): Promise<readonly Resource[]> {
  const clock = virtualClock();
  const cluster = simulatedCluster({ name, clock, kinds: allKinds() });
  const abort = new AbortController();
  const ended = startControllers(cluster, { clock, log: SILENT }, abort.signal);
  try {
    for (const object of applied) await cluster.apply(object, { fieldManager: "user" });
    await clock.advance(CONTROLLERS_MS);
    const lists = await Promise.all(
      agentKinds().map(async (kind) => (await cluster.list(kind)).items.map((object) => reported(kind, object as Resource, name))),
    );
    return lists.flat();
  } finally {
    abort.abort();
    await ended;
  }
}

function reported(kind: Kind, object: Resource, clusterName: string): Resource {
  const resource = kind.parse({ ...object, metadata: { ...object.metadata, clusterName } });
  return kind.project?.(resource) ?? resource;
}

/** An object of the management cluster. */
export function inManagement(object: AnyResource): Resource {
  return kindOf(object.apiVersion, object.kind)?.parse(object) ?? object;
}

const ignore = (): void => undefined;
const SILENT: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
