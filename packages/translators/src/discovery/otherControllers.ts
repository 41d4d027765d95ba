import { type Controller, Deployment, ReplicaSet } from "@isthmus/api";
import { type Resource, type ResourceRef, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";
import { derived } from "../incremental/derived.ts";
import { type Group, groupedBy } from "../incremental/groupedBy.ts";
import { inputTable } from "../incremental/join.ts";
import { reuseIfEqual } from "../incremental/rows.ts";
import { namespaceLocationOf } from "../policy/podIndexes.ts";

/**
 * What makes pods by way of ReplicaSets and is no Deployment, such as a Rollout of Argo: known from these alone, as agents do not watch its kind. Of a
 * ReplicaSet that nothing made, itself.
 */
export interface OtherController extends Controller {
  readonly replicaSets: readonly ResourceRef[];
}

type Labels = Readonly<Record<string, string>>;

const replicaSetsOf = groupedBy<ReplicaSet>(byOtherController);

/** Controllers that are no Deployment. */
export const knownOtherControllers = derived({
  from: inputTable(
    ({ inputs }: { readonly inputs: Snapshot }) => replicaSetsOf(inputs.of(ReplicaSet)),
    ({ key }) => key,
  ),
  context: () => undefined,
  joins: {},
  make: (group: Group<ReplicaSet>, { before }): OtherController => reuseIfEqual(controllerOf(group), before),
});

/** By the controller, under the key that it has as a row: what looks it up finds it by that. */
function byOtherController(replicaSet: ReplicaSet): readonly string[] {
  const { kind, name, apiVersion } = ownerOf(replicaSet);
  return kind === Deployment.kind ? [] : [resourceKeyOf({ apiVersion, kind, name, ...namespaceLocationOf(replicaSet) })];
}

function ownerOf(replicaSet: ReplicaSet): { readonly apiVersion: string; readonly kind: string; readonly name: string } {
  const owner = replicaSet.metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner ?? { apiVersion: replicaSet.apiVersion, kind: replicaSet.kind, name: replicaSet.metadata.name };
}

function controllerOf({ rows }: Group<ReplicaSet>): OtherController {
  const [first] = rows as readonly [ReplicaSet, ...ReplicaSet[]];
  const { apiVersion, kind, name } = ownerOf(first);
  const { namespace, clusterName, creationTimestamp } = first.metadata;
  const labels = rows.map(({ metadata }) => metadata.labels ?? {}).reduce(inBoth);
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(clusterName === undefined ? {} : { clusterName }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: { template: { metadata: { labels: withoutHashes(labels) } } },
    replicaSets: rows.map((replicaSet: Resource) => refOf(replicaSet)),
  };
}

/** A ReplicaSet bears the labels of its pods. What its controller's template has now is not known: what all of them have is. */
function inBoth(one: Labels, other: Labels): Labels {
  return Object.fromEntries(Object.entries(one).filter(([key, value]) => other[key] === value));
}

function withoutHashes(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !key.endsWith("pod-template-hash")));
}
