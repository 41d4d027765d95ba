import { KubernetesCluster } from "@isthmus/api";
import { type AnyResource, type Clock, formatRef, groupOf, type Kind, refOf, uptimeOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { RemoteNamespace, untyped } from "../remoteAccess.ts";
import { agentDefinitions } from "./agentDefinitions.ts";
import { deleteIfSame, isMadeByMeshctl } from "./ownObjects.ts";

export const Definition = untyped("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", false);

/** Deletes the CRDs and the namespace that registration has created, where nothing is in them. Gives what it deleted, and what it kept and why. */
export async function removeFoundations(
  remote: Cluster,
  namespace: string,
  clock: Clock,
): Promise<{ readonly deleted: readonly string[]; readonly kept: readonly string[] }> {
  const deleted: string[] = [];
  const kept: string[] = [];
  const drop = async (kind: Kind<AnyResource>, object: AnyResource, holds: () => Promise<string | undefined>): Promise<void> => {
    const content = await holds();
    const name = formatRef(refOf(object));
    if (content === undefined) await deleteIfSame(remote, kind, object);
    if (content === undefined) deleted.push(name);
    else kept.push(`${name} is kept: it has ${content}`);
  };
  const place = await ownNamespace(remote, namespace);
  if (place !== undefined) await drop(RemoteNamespace as Kind<AnyResource>, place, () => contentOf(remote, namespace));
  const names = agentDefinitions().map(({ metadata }) => metadata.name);
  // A server reads these kinds also where there is nothing of them.
  if (await isPlaneInstalled(remote))
    return { deleted, kept: [...kept, "the CRDs are kept: a management plane is installed in this cluster"] };
  for (const name of names) {
    const definition = await remote.get(Definition, { name, namespace: "" });
    if (definition !== undefined && isMadeByMeshctl(definition)) await drop(Definition, definition, () => firstOf(remote, definition));
  }
  await gone(remote, names, clock);
  return { deleted, kept };
}

async function ownNamespace(remote: Cluster, name: string): Promise<AnyResource | undefined> {
  const place = await remote.get(RemoteNamespace, { name, namespace: "" });
  return place !== undefined && isMadeByMeshctl(place) ? place : undefined;
}

/** Deletes a namespace that registration has created, where nothing is in it. Gives why it was kept. */
export async function removeEmptyNamespace(remote: Cluster, name: string): Promise<string | undefined> {
  const place = await ownNamespace(remote, name);
  if (place === undefined) return undefined;
  const content = await contentOf(remote, name);
  if (content !== undefined) return `${formatRef(refOf(place))} is kept: it has ${content}`;
  await deleteIfSame(remote, RemoteNamespace, place);
  return undefined;
}

async function isPlaneInstalled(remote: Cluster): Promise<boolean> {
  const { plural, apiVersion } = KubernetesCluster;
  return (await remote.get(Definition, { name: `${plural}.${groupOf(apiVersion)}`, namespace: "" })) !== undefined;
}

/** Waits for CRDs that are being deleted: until then they are served, and the one who registers next would take them for lasting. */
export async function gone(remote: Cluster, names: readonly string[], clock: Clock): Promise<void> {
  const until = uptimeOf(clock) + GOING_MS;
  for (const name of names) {
    for (;;) {
      const found = await remote.get(Definition, { name, namespace: "" });
      if (!isGoing((found?.metadata ?? {}) as Going) || uptimeOf(clock) >= until) break;
      await clock.sleep(POLL_MS);
    }
  }
}

const GOING_MS = 10_000;
const POLL_MS = 100;

/** Something in a namespace that is not there by itself, or about to go. */
async function contentOf(remote: Cluster, namespace: string): Promise<string | undefined> {
  for (const { apiVersion, kind, plural, namespaced } of await remote.servedKinds()) {
    if (!namespaced || kind === "Event") continue;
    const items = await listed(remote, untyped(apiVersion, kind, plural), namespace);
    const left = items.find(({ metadata }) => !isGoing(metadata as Going) && !BY_ITSELF.has(`${kind} ${metadata.name}`));
    if (left !== undefined) return formatRef(refOf(left));
  }
  return undefined;
}

interface Going {
  readonly ownerReferences?: readonly unknown[];
  readonly deletionTimestamp?: string;
}

/** Deleted with its owner, or already being deleted. */
function isGoing({ ownerReferences = [], deletionTimestamp }: Going): boolean {
  return ownerReferences.length > 0 || deletionTimestamp !== undefined;
}

const BY_ITSELF: ReadonlySet<string> = new Set(["ServiceAccount default", "ConfigMap kube-root-ca.crt", "ConfigMap istio-ca-root-cert"]);

async function firstOf(remote: Cluster, definition: AnyResource): Promise<string | undefined> {
  const [first] = await listed(remote, kindServed(definition));
  return first === undefined ? undefined : formatRef(refOf(first));
}

/** The kind that a CRD defines, in a version that is served. */
export function kindServed(definition: AnyResource): Kind<AnyResource> {
  const { group, names, versions } = definition["spec"] as unknown as DefinitionSpec;
  const version = versions.find(({ served }) => served)?.name ?? "v1";
  return untyped(`${group}/${version}`, names.kind, names.plural);
}

interface DefinitionSpec {
  readonly group: string;
  readonly names: { readonly kind: string; readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

/** The identities of all objects of a kind. What cannot be listed at all, such as reviews, is not kept anywhere. */
export async function listed(remote: Cluster, kind: Kind<AnyResource>, namespace?: string): Promise<readonly AnyResource[]> {
  const transform = ({ apiVersion, kind: named, metadata }: AnyResource): AnyResource => ({ apiVersion, kind: named, metadata });
  try {
    return (await remote.list(kind, namespace === undefined ? { transform } : { namespace, transform })).items;
  } catch (error) {
    if (error instanceof ClusterError && (error.code === "Unserved" || error.code === "NotFound")) return [];
    throw error;
  }
}
