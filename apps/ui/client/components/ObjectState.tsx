import type { Resource } from "@isthmus/core";
import type { KubernetesCluster } from "../data/kinds.ts";
import { useFleetState } from "../data/store.ts";
import { timeText } from "../model/age.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { frozenSince } from "../model/clusters/freshness.ts";
import { approvalOf, clusterStatus } from "../model/status.ts";
import { t } from "../strings.ts";
import { StatusMark, ToneShape } from "./StatusMark.tsx";

/** How an object stands, for kinds of which that is known; and of which moment it is, when its agent is not connected. */
export function ObjectState({ object }: { readonly object: Resource }) {
  const { fleet } = useFleetState();
  const since = frozenSince(fleet, clusterOf(object));
  const hasApproval =
    "status" in object && typeof (object as { readonly status?: { readonly state?: unknown } }).status?.state === "string";
  return (
    <span className="object-state">
      {object.kind === "KubernetesCluster" ? (
        <StatusMark status={clusterStatus(object as KubernetesCluster)} />
      ) : hasApproval ? (
        <StatusMark status={approvalOf(object)} />
      ) : null}
      {since === undefined ? null : (
        <span className="status stale frozen" data-tone="warning">
          <ToneShape tone="warning" />
          <span>{t.clusters.frozenAt(timeText(since, Date.now()))}</span>
        </span>
      )}
    </span>
  );
}
