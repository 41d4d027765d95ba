import { customResourceDefinitions, KubernetesCluster } from "@isthmus/api";
import { type AnyResource, formatRef, type Kind, kindKeyOf, type Resource, refOf, UsageError } from "@isthmus/core";
import { NAMES } from "@isthmus/plane/installation";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { kindOfDefinition } from "../register/agentDefinitions.ts";
import { isMadeByMeshctl, kindsOf, placeOf } from "../register/ownObjects.ts";
import { Definition } from "../register/removeFoundations.ts";
import { untyped } from "../remoteAccess.ts";
import { serverObjects } from "./serverManifest.ts";

const Deployment = untyped("apps/v1", "Deployment", "deployments");

/** An object that an installation has, and what of its name stands in the cluster. */
export interface FoundObject {
  readonly kind: Kind<AnyResource>;
  readonly desired: AnyResource;
  readonly found: AnyResource | undefined;
  /** Of a kind whose CRD comes with the installation: nothing can be tried of it before. */
  readonly isToCome?: true;
  /** A Helm release has left it, which is gone: it is used as it is. */
  readonly isLeftByHelm?: true;
}

/** What an installation would meet. */
export interface FoundPlane {
  /** In the order in which they are applied. */
  readonly objects: readonly FoundObject[];
  readonly definitions: readonly FoundObject[];
}

/** What there is of a management plane: of these objects, by default those of the chart with its defaults. Throws UsageError for a Helm release that is there, with the command of Helm that does the same. */
export async function findPlane(
  cluster: Cluster,
  namespace: string,
  { helm, objects = serverObjects(namespace) }: { readonly helm: "upgrade" | "uninstall"; readonly objects?: readonly AnyResource[] },
): Promise<FoundPlane> {
  // What is of a CRD of ours, as Settings by a value of the chart, is not served before the first installation.
  const definedHere = new Set((customResourceDefinitions() as readonly AnyResource[]).map(kindOfDefinition));
  const served = new Set((await cluster.servedKinds()).map(kindKeyOf));
  const isToCome = (object: AnyResource): boolean => definedHere.has(kindKeyOf(object)) && !served.has(kindKeyOf(object));
  const kindOf = await kindsOf(
    cluster,
    objects.filter((object) => !isToCome(object)),
  );
  const look = async (kind: Kind<AnyResource>, wanted: AnyResource): Promise<FoundObject> => ({
    kind,
    desired: wanted,
    found: await cluster.get(kind, placeOf(wanted)),
  });
  const toCome = (object: AnyResource): FoundObject => ({
    kind: untyped(object.apiVersion, object.kind, "", object.metadata.namespace !== undefined),
    desired: object,
    found: undefined,
    isToCome: true,
  });
  const found = await inOrder(objects.map(async (object) => (isToCome(object) ? toCome(object) : look(kindOf(object), object))));
  const definitions = await inOrder((customResourceDefinitions() as readonly AnyResource[]).map((crd) => look(Definition, crd)));
  const legacy = await cluster.get(Deployment, { name: NAMES.enterprise.server, namespace });
  const there = [...found.flatMap((object) => object.found ?? []), ...(legacy === undefined ? [] : [legacy])];
  const gone = await goneReleases(cluster, there);
  refuseHelm(
    there.filter((object) => !gone.has(releaseOf(object)?.key ?? "")),
    helm,
  );
  // Helm keeps them, as an uninstallation by meshctl does.
  const isLeft = (object: AnyResource | undefined): boolean => object !== undefined && gone.has(releaseOf(object)?.key ?? "");
  return { objects: found.map((one) => (isLeft(one.found) ? { ...one, isLeftByHelm: true } : one)), definitions };
}

/** All of them; rejects with the first in their order, not in time: what is refused is reported in the same words each time. */
async function inOrder<T>(answers: readonly Promise<T>[]): Promise<readonly T[]> {
  const settled = await Promise.allSettled(answers);
  return settled.map((answer) => {
    if (answer.status === "rejected") throw answer.reason;
    return answer.value;
  });
}

/** Kinds that stay: what clusters have reported, and since when, as the chart keeps it. */
export const KEPT: ReadonlySet<string> = new Set(["PersistentVolumeClaim"]);

interface HelmRelease {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly key: string;
}

/** The Helm release that has made an object, as Helm has noted on it. */
function releaseOf({ metadata }: Resource): HelmRelease | undefined {
  const { "meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": namespace } = metadata.annotations ?? {};
  return name === undefined ? undefined : { name, namespace, key: `${namespace ?? ""}/${name}` };
}

/**
 * Keys of releases of which only what Helm keeps is there, and no record: it has those in Secrets or ConfigMaps, or in a database that is not asked. A release
 * that cannot be looked for is there.
 */
async function goneReleases(cluster: Cluster, objects: readonly Resource[]): Promise<ReadonlySet<string>> {
  const releases = new Map(objects.flatMap((object) => releaseOf(object) ?? []).map((release) => [release.key, release]));
  const standing = new Set(objects.filter(({ kind }) => !KEPT.has(kind)).map((object) => releaseOf(object)?.key));
  const gone = new Set<string>();
  for (const { name, namespace, key } of releases.values()) {
    if (namespace === undefined || standing.has(key)) continue;
    const options = { namespace, labels: { matchLabels: { owner: "helm", name } }, transform: withoutContent };
    try {
      const records = await Promise.all(RECORDS.map((kind) => cluster.list(kind, options)));
      if (records.every(({ items }) => items.length === 0)) gone.add(key);
    } catch (error) {
      if (!(error instanceof ClusterError) || error.code === "Unavailable") throw error;
    }
  }
  return gone;
}

const RECORDS = [untyped("v1", "Secret", "secrets"), untyped("v1", "ConfigMap", "configmaps")];

/** A record holds the whole chart. */
function withoutContent({ apiVersion, kind, metadata }: AnyResource): AnyResource {
  return { apiVersion, kind, metadata };
}

function refuseHelm(objects: readonly Resource[], command: "upgrade" | "uninstall"): void {
  for (const object of objects) {
    const release = releaseOf(object);
    if (release === undefined) continue;
    const { name, namespace } = release;
    const chart = command === "upgrade" ? " deploy/helm/gloo-mesh-mgmt-server" : "";
    throw new UsageError(
      `${formatRef(refOf(object))} belongs to the Helm release ${name}, which meshctl does not change: use Helm: helm ${command} ${name}${chart}${namespace === undefined ? "" : ` --namespace ${namespace}`}`,
    );
  }
}

/** Refuses what stands in the way of an installation. Throws UsageError that names each object. */
export async function refuseForeign(cluster: Cluster, namespace: string, { objects, definitions }: FoundPlane): Promise<void> {
  const legacy = await cluster.get(Deployment, { name: NAMES.enterprise.server, namespace });
  if (legacy !== undefined) {
    throw new UsageError(
      `${formatRef(refOf(legacy))} is a management server under its legacy name: two servers must not run beside each other; upgrade that one, or use another --namespace`,
    );
  }
  const foreign = objects.flatMap(({ found }) => (found !== undefined && !isMadeByMeshctl(found) ? [formatRef(refOf(found))] : []));
  if (foreign.length > 0) {
    throw new UsageError(
      `${foreign.join(", ")}: not created by meshctl, which does not overwrite what others have made: delete ${foreign.length === 1 ? "it" : "them"}, or use another --namespace`,
    );
  }
  const going = definitions.find(
    ({ found }) => (found?.metadata as { readonly deletionTimestamp?: string } | undefined)?.deletionTimestamp,
  );
  if (going !== undefined) {
    throw new UsageError(`${formatRef(refOf(going.desired))} is being deleted: run this command again once it is gone`);
  }
}

/** Names of the clusters that are registered in a namespace. */
export async function registeredClusters(cluster: Cluster, namespace: string): Promise<readonly string[]> {
  return (await registrations(cluster, namespace)).map(({ metadata }) => metadata.name).sort();
}

/** Registrations of other management planes in the same cluster, as texts. */
export async function clustersElsewhere(cluster: Cluster, namespace: string): Promise<readonly string[]> {
  const all = await registrations(cluster);
  return all.filter(({ metadata }) => metadata.namespace !== namespace).map((registration) => formatRef(refOf(registration)));
}

async function registrations(cluster: Cluster, namespace?: string): Promise<readonly Resource[]> {
  try {
    return (await cluster.list(KubernetesCluster, namespace === undefined ? {} : { namespace })).items;
  } catch (error) {
    // Without their CRD there are none.
    if (error instanceof ClusterError && (error.code === "Unserved" || error.code === "NotFound")) return [];
    throw error;
  }
}
