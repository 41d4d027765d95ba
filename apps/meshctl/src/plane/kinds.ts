import type { DefinedKind } from "@isthmus/api";
import type { Resource } from "@isthmus/core";

/** A kind that commands print: how users name it, and in which order it comes among others. */
export interface PrintedKind {
  /** As in `meshctl get`. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  /** The kinds that it stands for. */
  readonly kinds: readonly KindName[];
}

export type KindName =
  | "Mesh"
  | "Workload"
  | "Destination"
  | "TrafficPolicy"
  | "AccessPolicy"
  | "VirtualMesh"
  | "VirtualDestination"
  | "ServiceDependency"
  | "AccessLogRecord"
  | "WasmDeployment"
  | "KubernetesCluster";

/** What `get` prints. Names only: the kinds themselves are loaded when a command reads them. */
export const PRINTED_KINDS: readonly PrintedKind[] = [
  { name: "meshes", aliases: ["mesh"], description: "the meshes that were discovered", kinds: ["Mesh"] },
  { name: "workloads", aliases: ["workload", "wkl"], description: "the workloads that were discovered", kinds: ["Workload"] },
  {
    name: "destinations",
    aliases: ["destination", "dest"],
    description: "the services that can receive traffic",
    kinds: ["Destination"],
  },
  {
    name: "policies",
    aliases: ["policy"],
    description: "TrafficPolicies, AccessPolicies, VirtualMeshes and VirtualDestinations, each with its state",
    kinds: ["TrafficPolicy", "AccessPolicy", "VirtualMesh", "VirtualDestination"],
  },
  { name: "trafficpolicies", aliases: ["trafficpolicy", "tpol"], description: "TrafficPolicies", kinds: ["TrafficPolicy"] },
  { name: "accesspolicies", aliases: ["accesspolicy", "apol"], description: "AccessPolicies", kinds: ["AccessPolicy"] },
  {
    name: "virtualmeshes",
    aliases: ["virtualmesh", "vmesh", "vmeshes"],
    description: "VirtualMeshes",
    kinds: ["VirtualMesh"],
  },
  {
    name: "virtualdestinations",
    aliases: ["virtualdestination", "vdest"],
    description: "VirtualDestinations",
    kinds: ["VirtualDestination"],
  },
  { name: "servicedependencies", aliases: ["servicedependency", "sdep"], description: "ServiceDependencies", kinds: ["ServiceDependency"] },
  { name: "accesslogrecords", aliases: ["accesslogrecord", "alr"], description: "AccessLogRecords", kinds: ["AccessLogRecord"] },
  { name: "wasmdeployments", aliases: ["wasmdeployment", "wd"], description: "WasmDeployments", kinds: ["WasmDeployment"] },
  { name: "clusters", aliases: ["cluster", "kubernetesclusters"], description: "the registered clusters", kinds: ["KubernetesCluster"] },
];

/** The kinds of these names. */
export async function kindsNamed(names: readonly KindName[]): Promise<readonly DefinedKind<Resource>[]> {
  const api = await import("@isthmus/api");
  return names.map((name) => api[name] as DefinedKind<Resource>);
}
