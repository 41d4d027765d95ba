import { type Controller, DaemonSet, Deployment, Pod, ReplicaSet, StatefulSet, type Workload } from "@isthmus/api";
import { compareKeys, type Kind, keyOfResource } from "@isthmus/core";
import { derived } from "../incremental/derived.ts";
import { inputKind, inputTable, join } from "../incremental/join.ts";
import { unionOfKinds } from "../incremental/unionOfKinds.ts";
import { meshesByCluster } from "./discoverMeshes.ts";
import { type DiscoveryRow, discoveryRow, keyAcrossKinds } from "./discoveryResult.ts";
import { byCluster, podsByController, replicaSetsByController } from "./indexes.ts";
import { type DiscoverySources, isInDiscoveryScope, scopeJoins } from "./sources.ts";
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

/** What comes of every controller. */
export const discoveredWorkloads = derived({
  from: controllers,
  context: ({ context }) => context,
  joins: {
    ...scopeJoins(controllers),
    meshes: join({ from: controllers, key: byCluster, to: meshes, index: meshesByCluster }),
    pods: join({ from: controllers, when: (controller: Controller) => !isDeployment(controller), to: pods, index: podsByController }),
    podsOfReplicaSets: join({ from: replicaSetsOfDeployment.source, to: pods, index: podsByController }),
  },
  make: (controller, { key, lookup, context, before }): DiscoveryRow<Workload> | undefined => {
    const [meshScope] = lookup("meshScope");
    if (!isInDiscoveryScope(controller, context, { meshScope, namespace: () => lookup("namespace")[0] })) return undefined;
    const inputs = {
      controller,
      pods: isDeployment(controller) ? inKeyOrder(lookup("podsOfReplicaSets")) : lookup("pods"),
      meshes: lookup("meshes"),
      owner: context.owner,
      namespace: context.options.namespace,
    };
    return discoveryRow(key, controller, translateWorkload(inputs), before);
  },
});

function isDeployment({ kind }: Controller): boolean {
  return kind === Deployment.kind;
}

/** Those of several ReplicaSets come one after the other, those of one in order: their keys are made once, and mostly stand as they should. */
function inKeyOrder(found: readonly Pod[]): readonly Pod[] {
  if (found.length < 2) return found;
  const keyed = found.map((pod) => ({ key: keyOfResource(pod), pod }));
  return keyed.sort((a, b) => compareKeys(a.key, b.key)).map(({ pod }) => pod);
}
