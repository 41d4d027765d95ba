import { keyOf } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { Mesh, type Workload } from "../data/kinds.ts";
import { destinationsOf } from "./selection.ts";

/** What a list says of a workload beside what it says of itself. */
export interface WorkloadFacts {
  /** `trust domain/ns/namespace/sa/account`, as rules of Istio name it; "" outside of Istio meshes. */
  readonly identity: string;
  /** That of its mesh; "" where there is no identity. */
  readonly trustDomain: string;
  /** How many TrafficPolicies and AccessPolicies are in force on the Destinations that select it: `TP 2 · AP 1`; "" for none. */
  readonly policies: string;
}

/** Looks them up when first asked. */
export function workloadFacts(fleet: Fleet, workload: Workload): () => WorkloadFacts {
  let facts: WorkloadFacts | undefined;
  return () => {
    facts ??= { ...identityOf(fleet, workload), policies: policiesOf(fleet, workload) };
    return facts;
  };
}

function identityOf({ snapshot }: Fleet, { spec }: Workload): Pick<WorkloadFacts, "identity" | "trustDomain"> {
  const { name = "", namespace = "" } = spec?.mesh ?? {};
  const { controller, serviceAccountName } = spec?.kubernetes ?? {};
  const istio = snapshot.of(Mesh).row(keyOf({ name, namespace, clusterName: "" }))?.spec?.istio;
  if (istio === undefined || controller === undefined) return { identity: "", trustDomain: "" };
  const trustDomain = istio.trustDomain || "cluster.local";
  return { identity: `${trustDomain}/ns/${controller.namespace ?? ""}/sa/${serviceAccountName || "default"}`, trustDomain };
}

function policiesOf(fleet: Fleet, workload: Workload): string {
  const statuses = destinationsOf(fleet, workload).map(({ status }) => status ?? {});
  const names = (refs: readonly { readonly ref?: object }[]) => new Set(refs.map(({ ref }) => JSON.stringify(ref))).size;
  const [traffic, access] = [
    names(statuses.flatMap(({ appliedTrafficPolicies = [] }) => appliedTrafficPolicies)),
    names(statuses.flatMap(({ appliedAccessPolicies = [] }) => appliedAccessPolicies)),
  ];
  return [...(traffic > 0 ? [`TP ${traffic}`] : []), ...(access > 0 ? [`AP ${access}`] : [])].join(" · ");
}
