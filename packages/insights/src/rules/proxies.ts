import { DaemonSet, Deployment, Mesh, Pod, ReplicaSet, StatefulSet, Workload } from "@isthmus/api";
import { type Index, type Resource, resourceKeyOf } from "@isthmus/core";
import { imageVersion, istioSidecar, podsByController, proxyContainer, replicaSetsByController } from "@isthmus/translators";
import { inputKind, join } from "@isthmus/translators/incremental";
import { kubectl } from "../insight.ts";
import { defineRule, type InsightTables, type Lookup, lookUp } from "../rule.ts";
import { byMeshCluster, byWorkloadCluster } from "./places.ts";

const CONTROLLERS = [Deployment, DaemonSet, StatefulSet];

/** The kind of the controller: a Workload's name ends in it. */
function controllerKindOf({ metadata }: Workload): (typeof CONTROLLERS)[number] | undefined {
  return CONTROLLERS.find(({ kind }) => metadata.name.endsWith(`-${kind.toLowerCase()}`));
}

const controllerKey: Index<Workload> = (workload) => {
  const { name = "", namespace = "", clusterName = "" } = workload.spec?.kubernetes?.controller ?? {};
  const kind = controllerKindOf(workload);
  return kind === undefined ? [] : [resourceKeyOf({ apiVersion: kind.apiVersion, kind: kind.kind, name, namespace, clusterName })];
};
const ownKey: Index<Resource> = ({ apiVersion, kind, metadata: { name, namespace = "", clusterName = "" } }) => [
  resourceKeyOf({ apiVersion, kind, name, namespace, clusterName }),
];

/** The pods of a Deployment: those of its ReplicaSets. */
const podsOfReplicaSets: Lookup<Workload, Pod> = {
  kind: Pod,
  through: [ReplicaSet],
  joinFrom(from) {
    const replicaSets = join({
      from,
      to: inputKind<InsightTables, ReplicaSet>(ReplicaSet),
      key: controllerKey,
      index: replicaSetsByController,
    });
    return join({ from: replicaSets.source, to: inputKind<InsightTables, Pod>(Pod), key: ownKey, index: podsByController });
  },
};

/** `1.24.2` as its numbers; undefined of what is no version, such as a digest. A variant such as `-distroless` does not count. */
function numbersOf(version: string | undefined): readonly string[] | undefined {
  return /^v?(\d{1,4}(?:\.\d{1,4}){1,2})(?![\w.])/.exec(version ?? "")?.[1]?.split(".");
}

/** A tag such as `1.24` says less than `1.24.2`, and does not contradict it. */
function differ(one: readonly string[], other: readonly string[]): boolean {
  return one.some((number, i) => other[i] !== undefined && other[i] !== number);
}

/** The version of the sidecar in a pod; undefined where its image does not say one. */
function proxyVersionOf(pod: Pod): string | undefined {
  const { image } = proxyContainer(pod) ?? {};
  return image === undefined ? undefined : imageVersion(image)?.tag;
}

const VERSIONS_SHOWN = 3;

/** CFG1009. */
export const proxiesOfOtherVersion = defineRule({
  code: "CFG1009",
  of: Workload,
  reads: {
    podsOfReplicaSets,
    pods: lookUp(Pod, { key: controllerKey, index: podsByController }),
    meshes: lookUp(Mesh, { key: byWorkloadCluster, index: byMeshCluster }),
  },
  *find(workload, { lookup }) {
    const controller = workload.spec?.kubernetes?.controller;
    const kind = controllerKindOf(workload);
    if (controller === undefined || kind === undefined) return;
    const meshes = lookup("meshes");
    const found = [...lookup("podsOfReplicaSets"), ...lookup("pods")].flatMap((pod) => {
      const proxy = proxyVersionOf(pod);
      const mesh = istioSidecar.meshOf(pod, meshes)?.spec?.istio?.installation?.version;
      const [ofProxy, ofMesh] = [numbersOf(proxy), numbersOf(mesh)];
      return ofProxy === undefined || ofMesh === undefined || !differ(ofProxy, ofMesh) ? [] : [{ proxy, mesh }];
    });
    if (found.length === 0) return;
    const versions = (values: readonly (string | undefined)[]) => {
      const distinct = [...new Set(values)].sort();
      return `${distinct.slice(0, VERSIONS_SHOWN).join(", ")}${distinct.length > VERSIONS_SHOWN ? " and others" : ""}`;
    };
    const { name = "", namespace = "", clusterName = "" } = controller;
    const what = found.length === 1 ? "1 pod has a proxy" : `${found.length} pods have proxies`;
    yield {
      message: `${what} of Istio ${versions(found.map(({ proxy }) => proxy))}, and the control plane is ${versions(found.map(({ mesh }) => mesh))}`,
      remedy: {
        text: `restart ${kind.kind} ${namespace}/${name}, so that its pods get the proxy of the control plane`,
        command: kubectl({ namespace, clusterName }, "rollout", "restart", kind.kind.toLowerCase(), name),
      },
    };
  },
});
