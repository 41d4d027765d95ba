import { Pod } from "@isthmus/api";
import type { Snapshot } from "@isthmus/core";
import { infrastructureSeen, isIstiodPod, istioSidecar, mayHoldInfrastructure, type Scope } from "@isthmus/translators";
import { type PodAddresses, workloadOfPod } from "./podAddresses.ts";

/** A pod whose metrics can be read: a proxy of Istio, or a control plane. */
export interface MeshPod {
  readonly namespace: string;
  readonly pod: string;
  /** Its controller; the pod itself where it has none. */
  readonly workload: string;
  readonly kind: "proxy" | "controlPlane";
  /** Undefined while it has no address. */
  readonly at: { readonly address: string; readonly port: number; readonly path: string } | undefined;
}

/**
 * The pods of a cluster with a proxy, and those of its control planes, in the namespaces that are reported. Control planes are where something vouches for them: what any tenant's pod
 * says of itself is not what istiod says.
 */
export function scrapeTargets(snapshot: Snapshot, addresses: Pick<PodAddresses, "of">, scope: Scope): readonly MeshPod[] {
  const infrastructure = infrastructureSeen(snapshot);
  const targets: MeshPod[] = [];
  for (const pod of snapshot.of(Pod)) {
    const { name, namespace = "", clusterName = "" } = pod.metadata;
    const kind = istioSidecar.isInjected(pod)
      ? "proxy"
      : isIstiodPod(pod) && mayHoldInfrastructure(namespace, infrastructure)
        ? "controlPlane"
        : undefined;
    if (kind === undefined || !scope(namespace)) continue;
    const address = addresses.of(namespace, name);
    const at = address === undefined ? undefined : { address, ...PLACES[kind] };
    targets.push({ namespace, pod: name, workload: workloadOfPod(snapshot, { name, namespace, clusterName }), kind, at });
  }
  return targets;
}

// Source: istio.io/docs/ops/deployment/application-requirements (ports used by Istio); istio.io/docs/ops/integrations/prometheus (merged metrics).
const PLACES = {
  proxy: { port: 15020, path: "/stats/prometheus" },
  controlPlane: { port: 15014, path: "/metrics" },
} as const;
