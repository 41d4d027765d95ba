import { countedKinds } from "@isthmus/api";
import { type AnyResource, groupOf, type Kind } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { readDocuments } from "@isthmus/testing";
import { CustomResourceDefinition } from "./clusters.ts";
import { waitFor } from "./waitFor.ts";

/** The objects of a multi-document YAML. */
export function objectsIn(text: string): readonly AnyResource[] {
  return readDocuments(text) as readonly AnyResource[];
}

/** Applies objects as a person would; those without a namespace go to `namespace` when their kind has one. */
export async function applyAll(
  cluster: Cluster,
  objects: readonly AnyResource[],
  { namespace }: { readonly namespace?: string } = {},
): Promise<void> {
  const types = new Map((await cluster.servedKinds()).map((type) => [`${type.apiVersion} ${type.kind}`, type]));
  for (const object of objects) {
    const isNamespaced = types.get(`${object.apiVersion} ${object.kind}`)?.namespaced ?? true;
    const metadata = isNamespaced && namespace !== undefined ? { namespace, ...object.metadata } : object.metadata;
    await cluster.apply({ ...object, metadata }, { fieldManager: "person", force: true });
  }
}

/** Applies CRDs and waits until the API server serves all of them. */
export async function installCrds(cluster: Cluster, crds: readonly AnyResource[]): Promise<void> {
  await Promise.all(crds.map((crd) => cluster.apply(crd, { fieldManager: "person", force: true })));
  const names = new Set(crds.map(({ metadata }) => metadata.name));
  await waitFor("CRDs to be established", async () => {
    const { items } = await cluster.list(CustomResourceDefinition);
    return items.filter((crd) => names.has(crd.metadata.name)).every((crd) => conditionOf(crd, "Established") === "True");
  });
  const wanted = crds.flatMap(servedVersionsOf);
  await waitFor("discovery to show the CRDs", async () => {
    const served = await servedTypes(cluster);
    return wanted.every((type) => served.has(type));
  });
}

/** Installs those CRDs of which the API server does not serve all versions: pools keep servers that have them. */
export async function installMissingCrds(cluster: Cluster, crds: readonly AnyResource[]): Promise<void> {
  const served = await servedTypes(cluster);
  const missing = crds.filter((crd) => !servedVersionsOf(crd).every((type) => served.has(type)));
  if (missing.length > 0) await installCrds(cluster, missing);
}

/** A CRD of a kind whose project's own one is at hand nowhere: it takes any fields. */
export function anyFieldsCrd({
  apiVersion,
  kind,
  plural,
  namespaced,
}: Pick<Kind, "apiVersion" | "kind" | "plural" | "namespaced">): AnyResource {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const [group = "", name = ""] = apiVersion.split("/");
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    // Groups of k8s.io require to say that nobody has approved of it.
    metadata: { name: `${plural}.${group}`, annotations: { "api-approved.kubernetes.io": "unapproved, of a test" } },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { kind, plural },
      versions: [{ name, served: true, storage: true, schema }],
    },
  } as unknown as AnyResource;
}

/** CRDs of the kinds that users have from Kubernetes' own projects beside it: the Gateway API and multi-cluster Services. */
export function kubernetesProjectCrds(): readonly AnyResource[] {
  const groups = ["gateway.networking.k8s.io", "multicluster.x-k8s.io"];
  return countedKinds()
    .filter(({ apiVersion }) => groups.includes(groupOf(apiVersion)))
    .map(anyFieldsCrd);
}

async function servedTypes(cluster: Cluster): Promise<ReadonlySet<string>> {
  return new Set((await cluster.servedKinds()).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
}

interface CrdFields {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { name: string; served: boolean }[];
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

function servedVersionsOf(crd: AnyResource): readonly string[] {
  const { spec } = crd as unknown as CrdFields;
  return spec.versions.filter(({ served }) => served).map(({ name }) => `${spec.group}/${name} ${spec.names.kind}`);
}

/** The status of a condition of a CRD; undefined when it has none of that type. */
export function conditionOf(crd: AnyResource, type: string): string | undefined {
  const { status } = crd as unknown as CrdFields;
  return status?.conditions?.find((condition) => condition.type === type)?.status;
}
