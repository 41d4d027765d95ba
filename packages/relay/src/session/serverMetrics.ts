import type { Log, Metric } from "@isthmus/core";
import type { ConnectResponse } from "../gen/relay/v1/relay_pb.ts";
import type { Counters } from "./counters.ts";
import { inventorySize } from "./inventory.ts";
import type { Observation } from "./link.ts";
import type { RefusalReason } from "./reportFilter.ts";
import type { ServerSession } from "./serverSession.ts";

/** Counts one message to an agent, and the objects in it. */
export function countSent(counters: Counters, cluster: string, { body }: ConnectResponse): void {
  counters.add("relay_server_messages_sent_total", { cluster, type: body.case ?? "" });
  if (body.case !== "down") return;
  const { upserts, deletes, withheld } = body.value;
  for (const [operation, { length }] of Object.entries({ put: upserts, remove: deletes, withhold: withheld })) {
    if (length > 0) counters.add("relay_server_objects_sent_total", { cluster, operation }, length);
  }
}

/** Tells which changes a message carries on, once for each revision. */
export function logSent(log: Log, cluster: string, { body }: ConnectResponse): void {
  if (body.case !== "down" || body.value.traces.length === 0) return;
  const { revision, complete, traces } = body.value;
  log.debug({ cluster, revision, complete, traces }, "sent");
}

/** Counts the objects of one report of an agent. */
export function countReceived(counters: Counters, cluster: string, { put, remove, withheld = [] }: Observation): void {
  for (const [operation, { length }] of Object.entries({ put, remove, withhold: withheld })) {
    if (length > 0) counters.add("relay_server_objects_received_total", { cluster, operation }, length);
  }
}

interface Notebook {
  readonly log: Log;
  readonly counters: Counters;
}

/** Tells and counts objects of a report that were refused. */
export function noteRefused(
  { log, counters }: Notebook,
  cluster: string,
  what: { readonly objects: ReadonlyMap<RefusalReason, number>; readonly address: string },
): void {
  const { objects, address } = what;
  for (const [reason, amount] of objects) {
    log.warn({ cluster, address, reason }, `refused ${amount} objects that the agent of ${cluster} sent: ${WHY[reason]}`);
    counters.add("relay_server_objects_refused_total", { cluster, reason }, amount);
  }
  const foreign = objects.get("OtherCluster");
  if (foreign !== undefined) counters.add("relay_server_foreign_refs_total", { cluster }, foreign);
}

const WHY: Readonly<Record<RefusalReason, string>> = {
  Kind: "agents do not report this kind",
  OtherCluster: "they belong to another cluster",
  Invalid: "their content does not match their names",
  Quota: "its quota is exceeded",
};

/** Tells and counts that the two ends differ. */
export function noteResync(
  { log, counters }: Notebook,
  cluster: string,
  { direction, kinds }: { readonly direction: "up" | "down"; readonly kinds: readonly string[] },
): void {
  log.warn({ cluster, direction, kinds }, "resync: server and agent have different objects");
  counters.add("relay_server_resyncs_total", { cluster, direction });
}

/** What a cluster's stream says now; undefined when no agent of the cluster is connected. */
export function sessionMetrics(cluster: string, session: ServerSession | undefined): readonly Metric[] {
  const labels = { cluster };
  const isConnected = session === undefined ? 0 : 1;
  return [
    { name: "relay_push_clients_connected", labels, value: isConnected },
    { name: "relay_pull_clients_connected", labels, value: isConnected },
    { name: "relay_server_reported_objects", labels, value: session === undefined ? 0 : inventorySize(session.up.held) },
    { name: "relay_server_outbox_objects", labels, value: (session?.down.outbox.size ?? 0) + (session?.down.sending?.left.size ?? 0) },
    { name: "relay_server_unacknowledged_revisions", labels, value: session?.down.unacknowledged.length ?? 0 },
  ];
}
