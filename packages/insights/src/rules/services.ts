import { Deployment, Mesh, Namespace, Pod, ReplicaSet, Service, SIDECAR_INJECT } from "@isthmus/api";
import { formatRef, type Index, keyOf, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import {
  istioSidecar,
  NEVER_INJECTED,
  type PortFamily,
  type PortHints,
  podsByController,
  portFamily,
  replicaSetsByController,
} from "@isthmus/translators";
import { inputKind, join } from "@isthmus/translators/incremental";
import { kubectl } from "../insight.ts";
import { defineRule, type InsightTables, type Lookup, lookUp, type RuleFinding } from "../rule.ts";
import { byMeshCluster, byObjectCluster } from "./places.ts";

/** What a Service says of a port over TCP; undefined where it leaves that to Istio. */
function familyOf(port: PortHints): PortFamily | undefined {
  const family = portFamily(port);
  return family === "detected" || family === "UDP" ? undefined : family;
}

const ownNamespace: Index<Resource> = ({ metadata: { namespace = "", clusterName = "" } }) => [
  keyOf({ name: namespace, namespace: "", clusterName }),
];

/** Whether Istio injects sidecars in a namespace. */
function isInjected({ metadata: { name, labels = {} } }: Namespace): boolean {
  if (NEVER_INJECTED.has(name)) return false;
  return labels["istio-injection"] === "enabled" || (labels["istio.io/rev"] !== undefined && labels["istio-injection"] !== "disabled");
}

/** CFG1002. */
export const portNameMeansNothing = defineRule({
  code: "CFG1002",
  of: Service,
  reads: { namespace: lookUp(Namespace, { key: ownNamespace }) },
  find: ({ spec }, { lookup }) => {
    if (!lookup("namespace").some(isInjected)) return [];
    return (spec?.ports ?? []).flatMap(({ name = "", appProtocol, protocol = "TCP", port }, i): readonly RuleFinding[] => {
      if (protocol !== "TCP" || appProtocol !== undefined || portFamily({ name, port: port ?? 0 }) !== "detected") return [];
      const message =
        name === ""
          ? `port ${port} has no name, so Istio guesses its protocol`
          : `${name} does not begin with a protocol, so Istio guesses it`;
      return [{ field: `spec.ports[${i}].name`, message, remedy: "set appProtocol, or a name such as http-web or tcp-db" }];
    });
  },
});

const bySelector: Index<Service> = ({ spec, metadata: { namespace = "", clusterName = "" } }) => {
  const pairs = Object.entries(spec?.selector ?? {}).sort();
  return pairs.length === 0 ? [] : [JSON.stringify([clusterName, namespace, pairs])];
};

/** CFG1003. */
export const servicesDisagree = defineRule({
  code: "CFG1003",
  of: Service,
  reads: { others: lookUp(Service, { key: bySelector, index: bySelector }) },
  find: (service, { lookup }) => {
    const others = lookup("others").filter(({ metadata }) => metadata.name < service.metadata.name);
    return (service.spec?.ports ?? []).flatMap((own, i): readonly RuleFinding[] => {
      const [family, targetPort] = [familyOf(own), own.targetPort ?? own.port];
      if (family === undefined) return [];
      for (const other of others) {
        for (const its of other.spec?.ports ?? []) {
          const itsFamily = familyOf(its);
          if ((its.targetPort ?? its.port) !== targetPort || itsFamily === undefined || itsFamily === family) continue;
          const message = `is ${family}, and ${formatRef(refOf(other))} says ${itsFamily} of port ${targetPort} of the same pods`;
          return [{ field: `spec.ports[${i}]`, message, remedy: "give the port one protocol in both" }];
        }
      }
      return [];
    });
  },
});

const ownKey: Index<Resource> = ({ apiVersion, kind, metadata: { name, namespace = "", clusterName = "" } }) => [
  resourceKeyOf({ apiVersion, kind, name, namespace, clusterName }),
];
/** The pods of a Deployment: those of its ReplicaSets. */
const itsPods: Lookup<Deployment, Pod> = {
  kind: Pod,
  through: [ReplicaSet],
  joinFrom(from) {
    const replicaSets = join({ from, to: inputKind<InsightTables, ReplicaSet>(ReplicaSet), key: ownKey, index: replicaSetsByController });
    return join({ from: replicaSets.source, to: inputKind<InsightTables, Pod>(Pod), key: ownKey, index: podsByController });
  },
};

/** CFG1007. */
export const deploymentWithoutSidecar = defineRule({
  code: "CFG1007",
  of: Deployment,
  reads: {
    namespace: lookUp(Namespace, { key: ownNamespace }),
    pods: itsPods,
    meshes: lookUp(Mesh, { key: byObjectCluster, index: byMeshCluster }),
  },
  *find(deployment, { lookup }) {
    const { replicas = 1, template } = deployment.spec ?? {};
    const pods = lookup("pods");
    if (replicas === 0 || !lookup("namespace").some(isInjected) || pods.length === 0 || pods.some(istioSidecar.isInjected)) return;
    const { labels, annotations } = template?.metadata ?? {};
    if ((labels?.[SIDECAR_INJECT] ?? annotations?.[SIDECAR_INJECT]) === "false") return;
    // Istio injects nothing into pods on the network of their nodes; and without a Mesh no sidecar is known to be one.
    if (template?.spec?.hostNetwork === true || lookup("meshes").length === 0) return;
    const { name, namespace = "", clusterName = "" } = deployment.metadata;
    yield {
      message: `its namespace ${namespace} has sidecar injection, and no pod of it has a sidecar: it calls others, and is called, outside of the mesh`,
      remedy: {
        text: "restart it, or label its pods sidecar.istio.io/inject: false if that is meant",
        command: kubectl({ namespace, clusterName }, "rollout", "restart", "deployment", name),
      },
    };
  },
});
