import type { RunningReplica } from "@isthmus/plane";
import type { ConsoleServerVersion, SnapshotClock } from "../wire.ts";

/** Which versions run in how many replicas, those that say it first; nothing where none runs. */
export function serverVersions(replicas: readonly RunningReplica[]): Pick<SnapshotClock, "servers"> {
  if (replicas.length === 0) return {};
  const counts = new Map<string | undefined, number>();
  for (const { version } of replicas) counts.set(version, (counts.get(version) ?? 0) + 1);
  const servers = [...counts]
    .sort(([a], [b]) => (a === b ? 0 : b === undefined || (a !== undefined && a < b) ? -1 : 1))
    .map(([version, count]): ConsoleServerVersion => ({ ...(version === undefined ? {} : { version }), replicas: count }));
  return { servers };
}
