import { type AnyResource, type Resource, refOf } from "@isthmus/core";
import {
  accessPolicy,
  cilium,
  gateway,
  istiod,
  kubernetesCluster,
  largeService,
  meshConfig,
  mistakenMeshConfig,
  mistakenObject,
  mistakenPolicy,
  networkPolicy,
  service,
  settings,
  shop,
  trafficPolicy,
  virtualMesh,
  workload,
} from "../objects.ts";
import type { Stage, StepKinds } from "../step.ts";
import { bearsOurLabel } from "../truth.ts";

/** What users and controllers do in clusters, and what users ask of us in the management cluster. */
export const userSteps: StepKinds = {
  putService: {
    weight: 8,
    n: 3,
    v: 4,
    isAboutCluster: true,
    act: (stage, { cluster, n, v }) => put(stage, cluster, [service(`s${n}`, v)]),
  },
  deleteService: {
    weight: 6,
    n: 3,
    isAboutCluster: true,
    act: (stage, { cluster, n }) => remove(stage, cluster, [service(`s${n}`, 0)]),
  },
  putWorkload: {
    weight: 4,
    n: 3,
    v: 2,
    isAboutCluster: true,
    act: (stage, { cluster, n, v }) => put(stage, cluster, workload(`s${n}`, v)),
  },
  deleteWorkload: {
    weight: 3,
    n: 3,
    isAboutCluster: true,
    act: (stage, { cluster, n }) => remove(stage, cluster, workload(`s${n}`, 0)),
  },
  putGateway: { weight: 2, v: 2, isAboutCluster: true, act: (stage, { cluster, v }) => put(stage, cluster, [gateway(cluster, v)]) },
  deleteGateway: { weight: 1, isAboutCluster: true, act: (stage, { cluster }) => remove(stage, cluster, [gateway(cluster, 0)]) },
  putMesh: {
    weight: 2,
    v: 2,
    isAboutCluster: true,
    act: (stage, { cluster, v }) => put(stage, cluster, [meshConfig(v), istiod(cluster, v)]),
  },
  deleteMesh: { weight: 1, isAboutCluster: true, act: (stage, { cluster }) => remove(stage, cluster, [istiod(cluster, 0)]) },
  emptyCluster: {
    weight: 1,
    isAboutCluster: true,
    act: (stage, { cluster }) => {
      const objects = stage.fleet.clusters.get(cluster)?.objects() ?? [];
      remove(
        stage,
        cluster,
        objects.filter((object) => !bearsOurLabel(object) && !STAYS.has(object.kind)),
      );
    },
  },
  putPolicy: { weight: 5, n: 2, v: 8, act: (stage, { n, v }) => put(stage, "", [trafficPolicy(`p${n}`, v)]) },
  deletePolicy: { weight: 3, n: 2, act: (stage, { n }) => remove(stage, "", [trafficPolicy(`p${n}`, 0)]) },
  putAccess: { weight: 2, v: 6, act: (stage, { v }) => put(stage, "", [accessPolicy("access", v)]) },
  deleteAccess: { weight: 1, act: (stage) => remove(stage, "", [accessPolicy("access", 0)]) },
  /** What users ask of us in a workload cluster, under names that those of the management cluster have too. */
  putPolicyThere: {
    weight: 3,
    n: 2,
    v: 8,
    isAboutCluster: true,
    act: (stage, { cluster, n, v }) => put(stage, cluster, [trafficPolicy(`p${n}`, v)]),
  },
  deletePolicyThere: {
    weight: 2,
    n: 2,
    isAboutCluster: true,
    act: (stage, { cluster, n }) => remove(stage, cluster, [trafficPolicy(`p${n}`, 0)]),
  },
  putAccessThere: {
    weight: 1,
    v: 6,
    isAboutCluster: true,
    act: (stage, { cluster, v }) => put(stage, cluster, [accessPolicy("access", v)]),
  },
  /** Typing errors, in what is there: `putAccess`, `putAccessThere`, `putPolicy`, `putVirtualMesh` and `putMesh` repair them. */
  mistakeAccess: { weight: 2, v: 5, act: (stage, { v }) => mistake(stage, "", v) },
  mistakeAccessThere: { weight: 1, v: 5, isAboutCluster: true, act: (stage, { cluster, v }) => mistake(stage, cluster, v) },
  mistakePolicy: { weight: 1, n: 2, v: 2, act: (stage, { n, v }) => mistaken(stage, trafficPolicy(`p${n}`, 0), v) },
  mistakeVirtualMesh: { weight: 1, v: 2, act: (stage, { v }) => mistaken(stage, virtualMesh([], 0), v) },
  mistakeMesh: { weight: 1, v: 4, isAboutCluster: true, act: (stage, { cluster, v }) => put(stage, cluster, [mistakenMeshConfig(v)]) },
  deleteAccessThere: { weight: 1, isAboutCluster: true, act: (stage, { cluster }) => remove(stage, cluster, [accessPolicy("access", 0)]) },
  /** What is discovered, and what resources of workload clusters may do. */
  putSettings: { weight: 3, v: 24, act: (stage, { v }) => put(stage, "", [settings(v)]) },
  deleteSettings: { weight: 2, act: (stage) => remove(stage, "", [settings(0)]) },
  /** At the network layer as well: the Settings ask for it, and there is something to enforce. */
  enforceCilium: { weight: 5, v: 6, act: (stage, { v }) => put(stage, "", [settings(9), accessPolicy("access", v)]) },
  putCilium: { weight: 2, v: 3, isAboutCluster: true, act: (stage, { cluster, v }) => put(stage, cluster, cilium(v)) },
  deleteCilium: { weight: 1, isAboutCluster: true, act: (stage, { cluster }) => remove(stage, cluster, cilium(0)) },
  putNetworkPolicy: { weight: 1, v: 3, isAboutCluster: true, act: (stage, { cluster, v }) => put(stage, cluster, [networkPolicy(v)]) },
  deleteNetworkPolicy: { weight: 1, isAboutCluster: true, act: (stage, { cluster }) => remove(stage, cluster, [networkPolicy(0)]) },
  labelShop: { weight: 1, v: 2, isAboutCluster: true, act: (stage, { cluster, v }) => put(stage, cluster, [shop(v)]) },
  putVirtualMesh: { weight: 3, n: 2, v: 4, act: (stage, { n, v }) => put(stage, "", [virtualMesh(joined(stage, n), v)]) },
  deleteVirtualMesh: { weight: 1, act: (stage) => remove(stage, "", [virtualMesh([], 0)]) },
  /** So many Services that their going is a mass deletion. */
  putCrowd: { weight: 0.4, isAboutCluster: true, act: (stage, { cluster }) => put(stage, cluster, crowd()) },
  deleteCrowd: { weight: 0.8, isAboutCluster: true, act: (stage, { cluster }) => remove(stage, cluster, crowd()) },
  resumeDeletes: { weight: 1, isAboutCluster: true, act: (stage, { cluster }) => stage.resume(cluster) },
  putLarge: { weight: 1, isAboutCluster: true, act: (stage, { cluster }) => put(stage, cluster, [largeService()]) },
  deleteLarge: { weight: 1, isAboutCluster: true, act: (stage, { cluster }) => remove(stage, cluster, [largeService()]) },
  /** Certificates of a cluster's agents that were issued before now no longer count. */
  revoke: {
    weight: 2,
    isAboutCluster: true,
    act(stage, { cluster }) {
      if (stage.object({ ...refOf(kubernetesCluster(cluster)), clusterName: "" }) === undefined) return;
      put(stage, "", [kubernetesCluster(cluster, new Date(stage.fleet.date()).toISOString())]);
    },
  },
  /** They do again, or (`v` 1) the agent has registered again. */
  readmit: {
    weight: 2,
    v: 2,
    isAboutCluster: true,
    act(stage, { cluster, v }) {
      if (v === 1) stage.fleet.certificates.rotate(cluster);
      else if (stage.object({ ...refOf(kubernetesCluster(cluster)), clusterName: "" }) !== undefined)
        put(stage, "", [kubernetesCluster(cluster)]);
    },
  },
  register: { weight: 2, isAboutCluster: true, act: (stage, { cluster }) => put(stage, "", [kubernetesCluster(cluster)]) },
  deregister: { weight: 2, isAboutCluster: true, act: (stage, { cluster }) => remove(stage, "", [kubernetesCluster(cluster)]) },
};

const STAYS: ReadonlySet<string> = new Set(["Namespace"]);

function crowd(): AnyResource[] {
  return Array.from({ length: CROWD }, (_, i) => service(`crowd-${i}`, 1));
}

// Each of them makes at least two objects in every cluster.
const CROWD = 30;

function joined({ fleet }: Stage, n: number): string[] {
  const names = [...fleet.clusters.keys()];
  return n === 0 ? names : names.slice(1);
}

function mistaken(stage: Stage, named: AnyResource, variant: number): void {
  const found = stage.object({ ...refOf(named), clusterName: "" });
  if (found !== undefined) put(stage, "", [mistakenObject({ ...named, spec: found["spec"] ?? {} } as AnyResource, variant)]);
}

function mistake(stage: Stage, clusterName: string, variant: number): void {
  const found = stage.object({ ...refOf(accessPolicy("access", 0)), clusterName });
  if (found === undefined) return;
  const { apiVersion, kind, metadata } = found;
  const policy = { apiVersion, kind, metadata: { name: metadata.name, namespace: metadata.namespace ?? "" }, spec: found["spec"] ?? {} };
  put(stage, clusterName, [mistakenPolicy(policy, variant)]);
}

function put(stage: Stage, clusterName: string, resources: readonly AnyResource[]): void {
  for (const resource of resources) stage.put(clusterName, resource, "user");
}

function remove(stage: Stage, clusterName: string, resources: readonly Resource[]): void {
  for (const resource of resources) stage.remove(clusterName, refOf(resource));
}
