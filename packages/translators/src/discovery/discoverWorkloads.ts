import { type Controller, DaemonSet, Deployment, Pod, ReplicaSet, StatefulSet, type Workload } from "@isthmus/api";
import { type CooperativeTask, type Kind, type Resource, refOf, resourceKeyOf, type Snapshot, type Table } from "@isthmus/core";
import { versionsOf } from "../incremental/changes.ts";
import { recompute } from "../incremental/rows.ts";
import { discoveryRow, type MeshesOf } from "./discoverMeshes.ts";
import type { DiscoveryRow } from "./discoveryResult.ts";
import { byCluster, controllerOf, indexedForWorkloads, namespaceLocationOf } from "./indexes.ts";
import type { Clusters, DiscoveryStep } from "./step.ts";
import { podsOf, translateWorkload } from "./workloads.ts";

const CONTROLLERS: readonly Kind<Controller>[] = [Deployment, DaemonSet, StatefulSet];

/** What comes of every controller. `anew`: the clusters in which all of them must be looked at again. */
export function* discoverWorkloads(
  step: DiscoveryStep,
  before: Table<DiscoveryRow<Workload>>,
  { meshesOf, anew }: { readonly meshesOf: MeshesOf; readonly anew: Clusters },
): CooperativeTask<Table<DiscoveryRow<Workload>>> {
  const { snapshot, owner, options } = step;
  yield* indexedForWorkloads(snapshot);
  const affected = yield* affectedControllers(step, anew);
  return yield* recompute(before, affected.keys(), (key, row) => {
    const controller = affected.get(key);
    if (controller === undefined || !step.isInScope(controller)) return undefined;
    const meshes = meshesOf(namespaceLocationOf(controller).clusterName);
    const inputs = { controller, pods: podsOf(snapshot, controller), meshes, owner, namespace: options.namespace };
    return discoveryRow(key, controller, translateWorkload(inputs), row);
  });
}

/** The controllers to be looked at, by `resourceKeyOf`; undefined for one that is gone. */
function* affectedControllers(
  { snapshot, since }: DiscoveryStep,
  anew: Clusters,
): CooperativeTask<ReadonlyMap<string, Controller | undefined>> {
  const affected = new Map<string, Controller | undefined>();
  const add = (controller: Controller | undefined) => controller && affected.set(resourceKeyOf(refOf(controller)), controller);
  for (const kind of CONTROLLERS) {
    const controllers = snapshot.of(kind);
    if (anew === "all") for (const controller of controllers) add(controller);
    else for (const clusterName of anew) controllers.where(byCluster, clusterName).forEach(add);
  }
  if (since === undefined) return affected;
  for (const kind of CONTROLLERS) {
    for (const { before, after } of since.changes.of(kind)) {
      if (after !== undefined) add(after);
      else if (before !== undefined) affected.set(resourceKeyOf(refOf(before)), undefined);
    }
  }
  for (const replicaSet of versionsOf(since.changes.of(ReplicaSet))) add(makerOf(replicaSet, snapshot));
  for (const pod of versionsOf(since.changes.of(Pod))) {
    yield;
    add(makerOf(pod, snapshot));
    // A Deployment makes its pods by way of a ReplicaSet, which may just have gone.
    for (const known of [snapshot, since.snapshot]) {
      const replicaSet = replicaSetOf(pod, known);
      if (replicaSet !== undefined) add(makerOf(replicaSet, snapshot));
    }
  }
  return affected;
}

/** The controller that an object names as its maker. */
function makerOf(object: Resource, snapshot: Snapshot): Controller | undefined {
  const { kind, name } = controllerOf(object) ?? {};
  const controllers = CONTROLLERS.find((one) => one.kind === kind);
  return controllers === undefined || name === undefined
    ? undefined
    : snapshot.of(controllers).get({ name, ...namespaceLocationOf(object) });
}

function replicaSetOf(pod: Pod, snapshot: Snapshot): ReplicaSet | undefined {
  const { kind, name } = controllerOf(pod) ?? {};
  return kind !== ReplicaSet.kind || name === undefined ? undefined : snapshot.of(ReplicaSet).get({ name, ...namespaceLocationOf(pod) });
}
