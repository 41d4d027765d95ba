import { createHash } from "node:crypto";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/plane/ports";
import { anyKind } from "./clusters.ts";
import { type kubectl, kubectl as runKubectl } from "./kubectl.ts";

type Target = Parameters<typeof kubectl>[0];

/** What docs/operations/backup.md says to back up, as it says it. */
const BACKED_UP = "kubernetesclusters,settings.settings.mesh.gloo.solo.io,virtualmeshes,trafficpolicies,accesspolicies";
/** The Secret that a backup leaves out: without it nothing that a store may still hold is taken for the state of the new cluster. */
const STORE_KEY = "relay-store-key-secret";

/** The objects of a backup of the management cluster, made with kubectl. */
export async function backUp(target: Target): Promise<readonly AnyResource[]> {
  const secrets = await list(target, ["secrets", "--namespace=gloo-mesh"]);
  const resources = await list(target, [BACKED_UP, "--all-namespaces"]);
  return [...secrets.filter(({ metadata }) => metadata.name !== STORE_KEY), ...resources].map(withoutServerFields);
}

async function list(target: Target, what: readonly string[]): Promise<readonly AnyResource[]> {
  const { code, stdout, stderr } = await runKubectl(target, ["get", ...what, "--output=json"]);
  if (code !== 0) throw new Error(stderr);
  return (JSON.parse(stdout) as { readonly items: readonly AnyResource[] }).items;
}

/** As the jq program of the document does it. */
function withoutServerFields({ status: _, metadata, ...rest }: AnyResource): AnyResource {
  const { uid: __, resourceVersion: ___, creationTimestamp: ____, managedFields: _____, generation: ______, ...kept } = metadata;
  const { "isthmus.mesh/resume-deletes": _______, ...annotations } = kept.annotations ?? {};
  return { ...rest, metadata: { ...kept, annotations } } as AnyResource;
}

/** Creates the objects of a backup, as the document does it. Throws when one is refused. */
export async function restore(target: Target, objects: readonly AnyResource[]): Promise<void> {
  const { code, stderr } = await runKubectl(target, ["create", "--filename=-"], { apiVersion: "v1", kind: "List", items: objects });
  if (code !== 0) throw new Error(stderr);
}

/** A digest of what each Secret of the management plane in a cluster holds, without the records of Helm. */
export async function secretDigests(cluster: Cluster): Promise<Readonly<Record<string, string>>> {
  const { items } = await cluster.list(anyKind("v1", "Secret", "secrets"), { namespace: "gloo-mesh" });
  const ours = items.filter(({ metadata }) => !metadata.name.startsWith("sh.helm.release."));
  return Object.fromEntries(ours.map(({ metadata, ...secret }) => [metadata.name, digestOf(secret["data"])]));
}

function digestOf(data: unknown): string {
  return createHash("sha256").update(JSON.stringify(data)).digest("hex");
}
