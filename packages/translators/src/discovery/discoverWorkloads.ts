import { type Controller, DaemonSet, Deployment, type Mesh, Pod, ReplicaSet, Service, StatefulSet, type Workload } from "@isthmus/api";
import { compareKeys, equalJson, type Kind, keyOfResource, resourceKeyOf } from "@isthmus/core";
import { derived } from "../incremental/derived.ts";
import { inputKind, inputTable, type JoinSource, join } from "../incremental/join.ts";
import { unionOfKinds } from "../incremental/unionOfKinds.ts";
import { REVISION_LABEL } from "./detectors/istioMesh.ts";
import { meshesByCluster } from "./discoverMeshes.ts";
import { type DiscoveryRow, discoveryRow, keyAcrossKinds } from "./discoveryResult.ts";
import { byCluster, podsByController, replicaSetsByController } from "./indexes.ts";
import type { OtherController } from "./otherControllers.ts";
import type { MeshScope } from "./scope.ts";
import { type DiscoverySources, isInDiscoveryScope, scopeJoins } from "./sources.ts";
import { standInAmong, virtualMeshesNaming } from "./standIns.ts";
import { translateWorkload } from "./workloads.ts";

const CONTROLLERS: readonly Kind<Controller>[] = [Deployment, DaemonSet, StatefulSet];
const controllersOf = unionOfKinds(CONTROLLERS);
const replicaSetsOf = unionOfKinds<ReplicaSet>([ReplicaSet]);

const controllers = inputTable(({ inputs }: DiscoverySources) => controllersOf(inputs), keyAcrossKinds);
const meshes = inputTable(({ meshes: table }: DiscoverySources) => table, keyOfResource);
const pods = inputKind<DiscoverySources, Pod>(Pod);
// Under the key that pods name them by.
const replicaSets = inputTable(({ inputs }: DiscoverySources) => replicaSetsOf(inputs), keyAcrossKinds);

/** A Deployment makes its pods by way of ReplicaSets. */
const replicaSetsOfDeployment = join({ from: controllers, when: isDeployment, to: replicaSets, index: replicaSetsByController });

const meshesOfCluster = join({ from: controllers, key: byCluster, to: meshes, index: meshesByCluster });

/** What comes of every controller. */
export const discoveredWorkloads = derived({
  from: controllers,
  context: ({ context }) => context,
  joins: {
    ...scopeJoins(controllers),
    meshes: meshesOfCluster,
    virtualMeshes: virtualMeshesNaming(meshesOfCluster.source),
    revisionTags: revisionTagsFor(controllers),
    pods: join({ from: controllers, when: (controller: Controller) => !isDeployment(controller), to: pods, index: podsByController }),
    podsOfReplicaSets: join({ from: replicaSetsOfDeployment.source, to: pods, index: podsByController }),
  },
  make: (controller, { key, lookup, context, before }): DiscoveryRow<Workload> | undefined => {
    const [meshScope] = lookup("meshScope");
    if (!isInDiscoveryScope(controller, context, { meshScope, namespace: () => lookup("namespace")[0] })) return undefined;
    const found = inOrderOfPlanes(lookup("meshes"), meshScope?.meshes);
    const inputs = {
      controller,
      pods: isDeployment(controller) ? inKeyOrder(lookup("podsOfReplicaSets")) : lookup("pods"),
      toCome: () => ({
        controller,
        namespaceLabels: lookup("namespace")[0],
        revisionOfTag: (tag: string) => revisionOfTag(tag, lookup("revisionTags"), meshScope),
      }),
      meshes: found,
      countsAs: standInAmong(found, () => lookup("virtualMeshes")),
      owner: context.owner,
      namespace: context.options.namespace,
    };
    return discoveryRow(key, controller, translateWorkload(inputs), before);
  },
});

const others = inputTable(({ otherControllers }: DiscoverySources) => otherControllers, keyAcrossKinds);
const meshesOfOthers = join({ from: others, key: byCluster, to: meshes, index: meshesByCluster });

/**
 * What comes of every controller of other kinds. Where nothing but pods tells of what they are made of, one without pods is no workload: of its
 * last pod its agent reports some time longer than it is there (docs/decisions/0189).
 */
export const discoveredOtherWorkloads = derived({
  from: others,
  context: ({ context }) => context,
  joins: {
    ...scopeJoins<OtherController>(others),
    meshes: meshesOfOthers,
    virtualMeshes: virtualMeshesNaming(meshesOfOthers.source),
    revisionTags: revisionTagsFor(others),
    pods: join({
      from: others,
      key: ({ owners }: OtherController) => owners.map(resourceKeyOf),
      to: pods,
      index: podsByController,
    }),
  },
  make: (other, { key, lookup, context, before }): DiscoveryRow<Workload> | undefined => {
    const [meshScope] = lookup("meshScope");
    const made = inKeyOrder(lookup("pods"));
    const controller = controllerOf(other, made[0]);
    if (controller === undefined) return undefined;
    if (!isInDiscoveryScope(other, context, { meshScope, namespace: () => lookup("namespace")[0] })) return undefined;
    const found = inOrderOfPlanes(lookup("meshes"), meshScope?.meshes);
    const inputs = {
      controller,
      parents: other.sources,
      pods: made,
      toCome: () => ({
        controller,
        namespaceLabels: lookup("namespace")[0],
        revisionOfTag: (tag: string) => revisionOfTag(tag, lookup("revisionTags"), meshScope),
      }),
      meshes: found,
      countsAs: standInAmong(found, () => lookup("virtualMeshes")),
      owner: context.owner,
      namespace: context.options.namespace,
    };
    return discoveryRow(key, other, translateWorkload(inputs), before);
  },
});

/** With what its pods are made of, as its youngest ReplicaSet says, or else a pod; undefined where neither does. */
function controllerOf({ sources: _, owners: __, ...controller }: OtherController, pod: Pod | undefined): Controller | undefined {
  if (pod === undefined) return controller.spec?.template?.spec === undefined ? undefined : { ...controller, status: {} };
  return controller.spec?.template?.spec === undefined ? withPodSpec(controller, pod) : controller;
}

/** Who its pods run as, and where: all that is read of a template. Its containers would be those of an injected pod. */
function withPodSpec(controller: Controller, { spec: { serviceAccountName, hostNetwork } = {} }: Pod): Controller {
  const spec = {
    ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
    ...(hostNetwork === undefined ? {} : { hostNetwork }),
  };
  return { ...controller, spec: { ...controller.spec, template: { ...controller.spec?.template, spec } } };
}

/** Services that tell of revision tags. */
function revisionTagsFor<C extends Controller>(from: JoinSource<DiscoverySources, C, C>) {
  return join({
    from,
    key: byCluster,
    to: inputKind<DiscoverySources, Service>(Service),
    index: revisionTagsByCluster,
    isSame: hasSameLabels,
  });
}

/** What is not said to be of another mesh is of the first: of those of control planes, one that nobody yields to. */
function inOrderOfPlanes(found: readonly Mesh[], names: readonly string[] = NONE): readonly Mesh[] {
  if (found.length < 2) return found;
  const positions = new Map(names.map((name, i) => [name, i]));
  const positionOf = ({ metadata }: Mesh) => positions.get(metadata.name) ?? names.length;
  return [...found].sort((a, b) => positionOf(a) - positionOf(b));
}

/** Services of istiod that tell which revision a tag stands for, by their cluster. Source: istio.io/istio, chart istiod, revision-tags-svc.yaml. */
function revisionTagsByCluster(service: Service): readonly string[] {
  return service.metadata.labels?.[TAG_LABEL] === undefined ? NONE : byCluster(service);
}

const TAG_LABEL = "istio.io/tag";
const NONE: readonly never[] = [];

function hasSameLabels(before: Service, after: Service): boolean {
  return equalJson(before.metadata.labels, after.metadata.labels);
}

/** As Services beside a control plane say: those of other namespaces are anybody's. */
function revisionOfTag(tag: string, services: readonly Service[], scope: MeshScope | undefined): string | undefined {
  const said = services.find(
    ({ metadata }) => metadata.labels?.[TAG_LABEL] === tag && scope?.home.includes(metadata.namespace ?? "") === true,
  );
  return said?.metadata.labels?.[REVISION_LABEL];
}

function isDeployment({ kind }: Controller): boolean {
  return kind === Deployment.kind;
}

/** Those of several ReplicaSets come one after the other, those of one in order: their keys are made once, and mostly stand as they should. */
function inKeyOrder(found: readonly Pod[]): readonly Pod[] {
  if (found.length < 2) return found;
  const keyed = found.map((pod) => ({ key: keyOfResource(pod), pod }));
  return keyed.sort((a, b) => compareKeys(a.key, b.key)).map(({ pod }) => pod);
}
