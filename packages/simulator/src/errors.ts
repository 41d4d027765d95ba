import { groupOf } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";

/** What an error says an object's type is. */
export interface NamedType {
  readonly apiVersion: string;
  readonly plural: string;
}

/** The type as the API server names it: `deployments.apps`, `services`. */
function qualifiedPlural({ apiVersion, plural }: NamedType): string {
  const group = groupOf(apiVersion);
  return group === "" ? plural : `${plural}.${group}`;
}

/** The object does not exist; in the words of an API server. */
export function notFound(type: NamedType, name: string): ClusterError {
  return new ClusterError("NotFound", `${qualifiedPlural(type)} "${name}" not found`);
}

/** A create found an object of the same name; in the words of an API server. */
export function alreadyExists(type: NamedType, name: string): ClusterError {
  return new ClusterError("AlreadyExists", `${qualifiedPlural(type)} "${name}" already exists`);
}

/** The object changed between a read and the write that was based on it. */
export function changedMeanwhile(type: NamedType, name: string): ClusterError {
  const object = `${qualifiedPlural(type)} "${name}"`;
  return new ClusterError("Conflict", `Operation cannot be fulfilled on ${object}: the object has been modified; read it again`);
}

/** The object cannot be stored as it is. `object` names it, `field` is the path that `details.fields` and the message have. */
export function invalidObject(object: string, field: string, problem: string): ClusterError {
  return new ClusterError("Invalid", `${object}: ${field}: ${problem}`, { fields: [field] });
}

/** The API server does not know this kind, or not in this version. */
export function unserved(type: { readonly apiVersion: string; readonly kind: string }): ClusterError {
  return new ClusterError("Unserved", `the server does not serve ${type.kind} of ${type.apiVersion}`);
}

/**
 * A watch cannot begin or continue at this version: the client has to list again. `oldest`: the revision that the message names beside it,
 * as that of an API server does.
 */
export function expired(resourceVersion: string, oldest: number): ClusterError {
  return new ClusterError("Expired", `too old resource version: ${resourceVersion} (${oldest})`);
}
