import { type Controller, Pod, ReplicaSet } from "@isthmus/api";
import { type Kind, type ResourceRef, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";
import { derived } from "../incremental/derived.ts";
import { type Group, groupedBy } from "../incremental/groupedBy.ts";
import { inputTable } from "../incremental/join.ts";
import { reuseIfEqual } from "../incremental/rows.ts";
import { unionOfKinds } from "../incremental/unionOfKinds.ts";
import { namespaceLocationOf } from "../policy/podIndexes.ts";
import { isOtherController, managingOwnerOf } from "./controllerKinds.ts";
import { sidecarDetectors } from "./detectors/index.ts";

/**
 * What makes pods and is of no kind that agents watch: a Rollout of Argo, known from its ReplicaSets, or an operator's own kind, known from the pods
 * that name it as their controller. Of a ReplicaSet that nothing made, itself.
 */
export interface OtherController extends Controller {
  /** The objects that tell of it: its ReplicaSets, else the first of its pods. */
  readonly sources: readonly ResourceRef[];
  /** What its pods name as their controller: its ReplicaSets, else itself. */
  readonly owners: readonly ResourceRef[];
}

type Labels = Readonly<Record<string, string>>;
type Source = ReplicaSet | Pod;

/** ReplicaSets and pods with a sidecar by `resourceKeyOf` the controller that made them, where agents do not watch its kind. */
export function byOtherController(object: Source): readonly string[] {
  const owner = ownerOf(object);
  if (owner === undefined) return NONE;
  const { apiVersion, kind, name } = owner;
  return [resourceKeyOf({ apiVersion, kind, name, ...namespaceLocationOf(object) })];
}

const sourcesOf = unionOfKinds<Source>([ReplicaSet, Pod] as readonly Kind<Source>[]);
const groupsOf = groupedBy<Source>(byOtherController);

/** Controllers of kinds that agents do not watch. */
export const knownOtherControllers = derived({
  from: inputTable(
    ({ inputs }: { readonly inputs: Snapshot }) => groupsOf(sourcesOf(inputs)),
    ({ key }) => key,
  ),
  context: () => undefined,
  joins: {},
  make: (group: Group<Source>, { before }): OtherController | undefined => {
    const controller = controllerOf(group);
    return controller && reuseIfEqual(controller, before);
  },
});

interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

function ownerOf(object: Source): Owner | undefined {
  const { apiVersion, kind, metadata } = object;
  const owner = managingOwnerOf(object);
  if (!isPod(object) && owner === undefined) return { apiVersion, kind, name: metadata.name };
  if (owner === undefined || !isOtherController(owner.kind)) return undefined;
  return isPod(object) && !sidecarDetectors.some(({ isInjected }) => isInjected(object)) ? undefined : owner;
}

function isPod(object: Source): object is Pod {
  return object.kind === Pod.kind;
}

function controllerOf({ rows }: Group<Source>): OtherController | undefined {
  const [first] = rows as readonly [Source, ...Source[]];
  const owner = ownerOf(first);
  if (owner === undefined) return undefined;
  const { apiVersion, kind, name } = owner;
  const { namespace, clusterName, creationTimestamp } = first.metadata;
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(clusterName === undefined ? {} : { clusterName }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
  };
  const replicaSets = rows.filter((row): row is ReplicaSet => !isPod(row));
  const made = replicaSets.length > 0 ? replicaSets : rows;
  const labels = withoutThoseOfOne(made.map((one) => one.metadata.labels ?? NO_LABELS).reduce(inBoth));
  const next = youngest(replicaSets)?.spec?.template;
  const refs = replicaSets.map((one) => refOf(one));
  return {
    apiVersion,
    kind,
    metadata,
    spec: { template: { ...next, metadata: { ...next?.metadata, labels } } },
    sources: refs.length > 0 ? refs : [refOf(first)],
    owners: refs.length > 0 ? refs : [refOf({ apiVersion, kind, metadata })],
  };
}

/** What its controller makes pods of next, as far as age tells. */
function youngest(replicaSets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const ageOf = ({ metadata: { creationTimestamp = "" } }: ReplicaSet) => creationTimestamp;
  return replicaSets.reduce<ReplicaSet | undefined>(
    (last, one) => (last !== undefined && ageOf(last) >= ageOf(one) ? last : one),
    undefined,
  );
}

/** A ReplicaSet bears the labels of its pods. What its controller's template has now is not known: what all of them have is. */
function inBoth(one: Labels, other: Labels): Labels {
  return Object.fromEntries(Object.entries(one).filter(([key, value]) => other[key] === value));
}

/** Without the hashes of one version, the names of one pod, and what the injector adds: a template has none of them. */
function withoutThoseOfOne(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !OF_ONE.some((end) => key.endsWith(end)) && !INJECTED.has(key)));
}

const OF_ONE = ["pod-template-hash", "-revision-hash", "/pod-name", "/pod-index"];
// Source: istio.io/istio, pkg/kube/inject, injection-template.yaml.
const INJECTED: ReadonlySet<string> = new Set([
  "security.istio.io/tlsMode",
  "service.istio.io/canonical-name",
  "service.istio.io/canonical-revision",
]);
const NO_LABELS: Labels = {};
const NONE: readonly never[] = [];
