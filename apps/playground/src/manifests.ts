import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { formatRef, messageOf, type Resource, refOf, UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/plane";
import { parseAllDocuments } from "yaml";

/** An object of a user, and the file that it is in. */
export interface Manifest {
  readonly file: string;
  readonly resource: Resource;
}

/** The objects of files, and of the YAML and JSON files of folders, in order of their names. Throws UsageError that names the file. */
export function readManifests(paths: readonly string[]): readonly Manifest[] {
  return paths.flatMap(filesOf).flatMap((file) => objectsOf(file).map((resource) => ({ file, resource })));
}

/** Applies each as `kubectl apply --server-side` does. Gives what was refused, a line each; one that is refused keeps no other out. */
export async function applyManifests(cluster: Cluster, manifests: readonly Manifest[]): Promise<readonly string[]> {
  const refused: string[] = [];
  for (const { file, resource } of manifests) {
    try {
      await cluster.apply(resource, { fieldManager: "demo" });
    } catch (error) {
      refused.push(`${file}: ${formatRef(refOf(resource))}: ${messageOf(error)}`);
    }
  }
  return refused;
}

function filesOf(path: string): readonly string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).sort();
    return names.filter((name) => /\.(?:ya?ml|json)$/.test(name)).map((name) => join(path, name));
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${messageOf(error)}`);
  }
}

function objectsOf(file: string): readonly Resource[] {
  if (statSync(file).size > MOST_BYTES) throw new UsageError(`${file} has more than ${MOST_BYTES / 1_048_576} MiB: apply it with kubectl`);
  const documents = parseAllDocuments(readFileSync(file, "utf8"));
  const [problem] = documents.flatMap(({ errors }) => errors);
  if (problem !== undefined) throw new UsageError(`${file}: ${problem.message.split("\n")[0] ?? ""}`);
  return documents.flatMap((document) => listed(file, document.toJS({ maxAliasCount: MOST_ALIASES })));
}

/** The objects of a document: one, those of a List, none of an empty one. */
function listed(file: string, value: unknown): readonly Resource[] {
  if (value === null || value === undefined) return [];
  const { apiVersion, kind, metadata, items } = value as Partial<Resource> & { readonly items?: readonly unknown[] };
  if (kind === "List" && Array.isArray(items)) return items.flatMap((item) => listed(file, item));
  if (typeof apiVersion === "string" && typeof kind === "string" && typeof metadata?.name === "string") return [value as Resource];
  throw new UsageError(`${file}: a document has no apiVersion, kind and metadata.name: it is no Kubernetes object`);
}

const MOST_BYTES = 4 * 1_048_576;
const MOST_ALIASES = 100;
