import { EndpointSlice, Pod } from "@isthmus/api";
import type { Snapshot } from "@isthmus/core";
import { infrastructureSeen, isIstiodPod, istioSidecar, mayHoldInfrastructure, type Scope } from "@isthmus/translators";
import { workloadOfPod } from "./podAddresses.ts";

/** A pod whose metrics can be read: a proxy of Istio, or a control plane. */
export interface MeshPod {
  readonly namespace: string;
  readonly pod: string;
  /** Its controller; the pod itself where it has none. */
  readonly workload: string;
  readonly kind: "proxy" | "controlPlane";
  /** Undefined while no Service has it as an endpoint: agents keep no status of pods. */
  readonly at: { readonly address: string; readonly port: number; readonly path: string } | undefined;
}

/**
 * The pods of a cluster with a proxy, and those of its control planes, in the namespaces that are reported. Control planes are where something vouches for them: what any tenant's pod
 * says of itself is not what istiod says.
 */
export function scrapeTargets(snapshot: Snapshot, scope: Scope): readonly MeshPod[] {
  const addresses = podAddresses(snapshot);
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
    const address = addresses.get(`${namespace}/${name}`);
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

/** By `namespace/name`. A slice speaks of pods of its own namespace, as Kubernetes makes them. */
function podAddresses(snapshot: Snapshot): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const slice of snapshot.of(EndpointSlice)) {
    const { namespace = "" } = slice.metadata;
    for (const { addresses = [], targetRef } of slice.endpoints ?? []) {
      const [address] = addresses;
      const { kind, name, namespace: there = namespace } = targetRef ?? {};
      if (kind === "Pod" && name !== undefined && there === namespace && address !== undefined) found.set(`${namespace}/${name}`, address);
    }
  }
  return found;
}
