import { KubernetesCluster } from "@isthmus/api";
import type { Clock, Resource } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { ClusterRole } from "../remoteAccess.ts";

/** How far the clocks of two API servers are ahead of the one of this machine, in milliseconds; undefined where that cannot be read. */
export interface ClockOffsets {
  readonly management: number | undefined;
  readonly remote: number | undefined;
}

/** An API server says its time with every object that it makes, also with one that it is only asked to try (dry run). */
export async function clockOffsets(
  {
    management,
    managementNamespace,
    remote,
  }: { readonly management: Cluster; readonly managementNamespace: string; readonly remote: Cluster },
  clock: Pick<Clock, "now">,
): Promise<ClockOffsets> {
  const name = `clock-${clock.now().toString(36)}`;
  const { apiVersion, kind } = KubernetesCluster;
  return {
    management: await offsetOf(
      management,
      { apiVersion, kind, metadata: { name, namespace: managementNamespace }, spec: {} } as Resource,
      clock,
    ),
    remote: await offsetOf(
      remote,
      { apiVersion: ClusterRole.apiVersion, kind: ClusterRole.kind, metadata: { name }, rules: [] } as Resource,
      clock,
    ),
  };
}

/** How far an API server's clock is ahead of this one, in milliseconds, by an object that it is asked to try. */
export async function offsetOf(cluster: Cluster, trial: Resource, clock: Pick<Clock, "now">): Promise<number | undefined> {
  try {
    const began = clock.now();
    const { metadata } = await cluster.apply(trial, { fieldManager: "meshctl", dryRun: true });
    const here = (began + clock.now()) / 2;
    const there = Date.parse(metadata.creationTimestamp ?? "");
    // It counts in whole seconds.
    return Number.isNaN(there) ? undefined : there + 500 - here;
  } catch (error) {
    // Only a hint is lost; what needs the right that is missing says so itself.
    if (error instanceof ClusterError && error.code !== "Unavailable") return undefined;
    throw error;
  }
}

/** The clock of an API server, as far as it is known; else that of this machine. */
export function clockAhead(clock: Clock, offsetMs: number | undefined): Pick<Clock, "now"> {
  const isOff = offsetMs !== undefined && Math.abs(offsetMs) > TOLERANCE_MS;
  return { now: () => clock.now() + (isOff ? Math.round(offsetMs) : 0) };
}

/** What to say of clocks that differ; undefined while they agree well enough. */
export function clockWarning({ management, remote }: ClockOffsets): string | undefined {
  if (management === undefined || remote === undefined) return undefined;
  const ms = remote - management;
  if (Math.abs(ms) <= TOLERANCE_MS) return undefined;
  return (
    `the clock of this cluster's API server is ${Math.round(Math.abs(ms) / 1000)} s ${ms < 0 ? "behind" : "ahead of"} that of the management ` +
    "cluster: certificates may be refused as not yet valid or expired; synchronize the clocks (NTP)"
  );
}

const TOLERANCE_MS = 60_000;
