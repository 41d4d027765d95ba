import { type Index, keyOf, type Resource } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { type Controller, DaemonSet, Deployment, Namespace, Pod, ReplicaSet, StatefulSet, Workload } from "../data/kinds.ts";

/** Why something that makes pods is in no mesh that was discovered, as far as what its cluster reports says it. */
export type OutsideReason =
  /** It is in ambient mode, which discovery does not look for. */
  | "ambient"
  /** Its pods have a sidecar: of a control plane that was not discovered, or they are of no kind of which discovery makes Workloads. */
  | "sidecar"
  | "noPods"
  | "optedOut"
  | "notInjected"
  /** Its namespace injects sidecars, and its pods have none. */
  | "notRestarted"
  /** The labels of its namespace are not here. */
  | "unknown";

/** Pods, or what makes them, of which discovery made no Workload. */
export interface OutsideWorkload {
  /** The controller; of pods without one that is reported, the first of them. */
  readonly object: Resource;
  /** Of the controller, reported or not, or of the pod. */
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly cluster: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
  readonly reason: OutsideReason;
}

const CONTROLLERS = [Deployment, StatefulSet, DaemonSet] as const;
const CONTROLLER_KINDS: ReadonlySet<string> = new Set(CONTROLLERS.map(({ kind }) => kind));
// The injector names them so. Source: Istio's injection template; linkerd.io/2/reference/proxy-configuration.
const SIDECARS: ReadonlySet<string> = new Set(["istio-proxy", "linkerd-proxy"]);
const [INJECT, AMBIENT] = ["sidecar.istio.io/inject", "istio.io/dataplane-mode"] as const;

/** Whether it can be said what is no Workload: not where Workloads may not be listed, nor before a cluster has reported everything. */
export function canTellOutside({ viewer, snapshot }: Pick<Fleet, "viewer" | "snapshot">): boolean {
  // All of them are in one namespace: who sees one sees all.
  return viewer?.missing.includes("workloads.discovery.mesh.gloo.solo.io") !== true || snapshot.of(Workload).size > 0;
}

/** All that runs and is no Workload, of clusters that have reported everything. Costs all controllers and pods. */
export function outsideWorkloads(fleet: Pick<Fleet, "snapshot" | "viewer" | "clock">): readonly OutsideWorkload[] {
  const { snapshot, clock } = fleet;
  if (!canTellOutside(fleet)) return [];
  const incomplete = new Set((clock?.clusters ?? []).filter(({ phase }) => phase === "unknown").map(({ name }) => name));
  const isKnown = ({ metadata: { clusterName = "" } }: Resource) => clusterName !== "" && !incomplete.has(clusterName);
  const inMesh = workloadKeys(snapshot.of(Workload));
  const found: OutsideWorkload[] = [];
  for (const kind of CONTROLLERS) {
    for (const controller of snapshot.of<Controller>(kind)) {
      if (!isKnown(controller) || inMesh.has(keyIn(controller, kind.kind, controller.metadata.name))) continue;
      const { metadata, spec } = controller.spec?.template ?? {};
      const of = { namespace: controller.metadata.namespace ?? "", cluster: controller.metadata.clusterName ?? "" };
      found.push({
        ...{ object: controller, kind: kind.kind, name: controller.metadata.name, ...of },
        labels: metadata?.labels ?? {},
        serviceAccount: spec?.serviceAccountName || "default",
        reason: reasonOf(fleet, { ...of, template: controller.spec?.template, pods: podsOf(fleet, controller) }),
      });
    }
  }
  return [...found, ...looseWorkloads(fleet, isKnown)];
}

/** Pods of no controller that is reported: by what owns them, such as a Job. */
function looseWorkloads(fleet: Pick<Fleet, "snapshot">, isKnown: (pod: Pod) => boolean): readonly OutsideWorkload[] {
  const groups = new Map<string, { readonly kind: string; readonly name: string; readonly pods: Pod[] }>();
  for (const pod of fleet.snapshot.of(Pod)) {
    const owner = isKnown(pod) ? looseOwner(fleet, pod) : undefined;
    if (owner === undefined) continue;
    const key = keyIn(pod, owner.kind, owner.name);
    const group = groups.get(key) ?? { ...owner, pods: [] };
    group.pods.push(pod);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap(({ kind, name, pods }): readonly OutsideWorkload[] => {
    const [first] = pods;
    if (first === undefined) return [];
    const { namespace = "", clusterName: cluster = "", labels = {} } = first.metadata;
    const template = { metadata: { labels }, ...(first.spec === undefined ? {} : { spec: first.spec }) };
    const serviceAccount = first.spec?.serviceAccountName || "default";
    return [
      {
        object: first,
        kind,
        name,
        namespace,
        cluster,
        labels,
        serviceAccount,
        reason: reasonOf(fleet, { namespace, cluster, template, pods }),
      },
    ];
  });
}

/** Who makes a pod, if that is nobody of whom discovery could make a Workload. */
function looseOwner({ snapshot }: Pick<Fleet, "snapshot">, pod: Pod): { readonly kind: string; readonly name: string } | undefined {
  const { name, namespace = "", clusterName = "" } = pod.metadata;
  const owner = controllerOf(pod);
  if (owner === undefined) return { kind: Pod.kind, name };
  if (CONTROLLER_KINDS.has(owner.kind)) return undefined;
  if (owner.kind !== ReplicaSet.kind) return owner;
  const replicaSet = snapshot.of(ReplicaSet).get({ name: owner.name, namespace, clusterName });
  const above = replicaSet === undefined ? undefined : controllerOf(replicaSet);
  // A ReplicaSet that is not here is of a Deployment, as nearly all are.
  if (replicaSet === undefined || above?.kind === Deployment.kind) return undefined;
  return above ?? owner;
}

interface Outside {
  readonly namespace: string;
  readonly cluster: string;
  readonly template: NonNullable<Controller["spec"]>["template"] | undefined;
  readonly pods: readonly Pod[];
}

function reasonOf({ snapshot }: Pick<Fleet, "snapshot">, { namespace, cluster, template, pods }: Outside): OutsideReason {
  const ofNamespace = snapshot.of(Namespace).get({ name: namespace, namespace: "", clusterName: cluster })?.metadata.labels;
  const { labels = {}, annotations = {} } = template?.metadata ?? {};
  if ((labels[AMBIENT] ?? ofNamespace?.[AMBIENT]) === "ambient") return "ambient";
  if (pods.some(hasSidecar)) return "sidecar";
  if (pods.length === 0) return "noPods";
  const asked = labels[INJECT] ?? annotations[INJECT];
  // Nothing is injected into pods on the network of their nodes.
  if (asked === "false" || template?.spec?.hostNetwork === true) return "optedOut";
  if (asked === "true") return "notRestarted";
  if (ofNamespace === undefined) return "unknown";
  return isInjected(ofNamespace) ? "notRestarted" : "notInjected";
}

// Source: istio.io/docs/setup/additional-setup/sidecar-injection.
function isInjected(labels: Readonly<Record<string, string>>): boolean {
  return labels["istio-injection"] === "enabled" || (labels["istio.io/rev"] !== undefined && labels["istio-injection"] !== "disabled");
}

function hasSidecar({ spec }: Pod): boolean {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(({ name = "" }) => SIDECARS.has(name));
}

const BY_OWNER: Index<Resource> = (resource) => {
  const owner = controllerOf(resource);
  return owner === undefined ? [] : [keyIn(resource, owner.kind, owner.name)];
};

function podsOf({ snapshot }: Pick<Fleet, "snapshot">, controller: Controller): readonly Pod[] {
  const own = keyIn(controller, controller.kind, controller.metadata.name);
  if (controller.kind !== Deployment.kind) return snapshot.of(Pod).where(BY_OWNER, own);
  return snapshot
    .of(ReplicaSet)
    .where(BY_OWNER, own)
    .flatMap((one) => snapshot.of(Pod).where(BY_OWNER, keyIn(one, ReplicaSet.kind, one.metadata.name)));
}

function controllerOf({ metadata }: Resource): { readonly kind: string; readonly name: string } | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner && { kind: owner.kind, name: owner.name };
}

/** The controllers of Workloads, whose names end with the kind. */
function workloadKeys(workloads: Iterable<Workload>): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { metadata, spec } of workloads) {
    const { name = "", namespace = "", clusterName = "" } = spec?.kubernetes?.controller ?? {};
    const named = CONTROLLERS.filter(({ kind }) => metadata.name.endsWith(`-${kind.toLowerCase()}`));
    for (const { kind } of named.length === 0 ? CONTROLLERS : named) keys.add(`${kind} ${keyOf({ name, namespace, clusterName })}`);
  }
  return keys;
}

function keyIn({ metadata: { namespace = "", clusterName = "" } }: Resource, kind: string, name: string): string {
  return `${kind} ${keyOf({ name, namespace, clusterName })}`;
}
