import { type AnyResource, type Clock, formatRef, refOf, UsageError, uptimeOf } from "@isthmus/core";
import { NAMES } from "@isthmus/plane/installation";
import type { Cluster } from "@isthmus/ports";
import { untyped } from "../remoteAccess.ts";

const Pod = untyped("v1", "Pod", "pods");

/** Waits until no management server runs in any namespace of the cluster, no matter who installed it. Throws UsageError that names the pods of one. */
export async function serversEnded(cluster: Cluster, clock: Clock): Promise<void> {
  const until = uptimeOf(clock) + ENDING_MS;
  for (;;) {
    const running = await serverPods(cluster);
    if (running.length === 0) return;
    if (uptimeOf(clock) >= until) {
      throw new UsageError(
        `a management server still runs, so the CRDs are kept: it would take the loss of their objects for deletes by users: ` +
          `${running.map((pod) => formatRef(refOf(pod))).join(", ")}: delete it, and run this command again`,
      );
    }
    await clock.sleep(POLL_MS);
  }
}

async function serverPods(cluster: Cluster): Promise<readonly AnyResource[]> {
  const values = Object.values(NAMES).map(({ server }) => server);
  const { items } = await cluster.list(Pod, { labels: { matchExpressions: [{ key: "app", operator: "In", values }] } });
  return items.filter(({ status }) => !ENDED.has((status as { readonly phase?: string } | undefined)?.phase ?? ""));
}

const ENDED: ReadonlySet<string> = new Set(["Succeeded", "Failed"]);
// The grace period of the chart's pods, and twice that for a slow node.
const ENDING_MS = 90_000;
const POLL_MS = 500;
