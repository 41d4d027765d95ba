import type { Destination } from "@isthmus/api";
import { type CooperativeTask, emptyTable, type Kind, type Resource, type Table } from "@isthmus/core";
import { keysOf, recompute } from "../incremental/rows.ts";
import type { TranslationContext, UserObject } from "../meshes/inputs.ts";
import type { UserObjects } from "../meshes/meshTranslator.ts";
import { meshTranslators } from "../meshes/meshTranslators.ts";
import { NETWORKING_OWNER_LABEL } from "../meshes/outputMetadata.ts";
import { hostnameFrom } from "../policy/hosts/hostnames.ts";
import type { AttachmentStep } from "./step.ts";

/** An object of a mesh that this product did not write, and the hosts that it is about. */
export interface UserObjectHosts {
  readonly key: string;
  readonly object: UserObject;
  readonly hosts: readonly string[];
}

/** No object of a user. */
export function noUserObjectHosts(): Table<UserObjectHosts> {
  return emptyTable(({ key }) => key);
}

/** The objects by which users configure meshes themselves. */
export function* userObjectHosts(step: AttachmentStep, before: Table<UserObjectHosts>): CooperativeTask<Table<UserObjectHosts>> {
  let claims = before;
  for (const { userObjects } of meshTranslators) {
    if (userObjects === undefined) continue;
    for (const kind of userObjects.kinds) claims = yield* claimsOf(step, claims, { kind, hostsOf: userObjects.hostsOf });
  }
  return claims;
}

function* claimsOf(
  { inputs, translationContext, since }: AttachmentStep,
  before: Table<UserObjectHosts>,
  { kind, hostsOf }: { readonly kind: Kind<UserObject>; readonly hostsOf: UserObjects["hostsOf"] },
): CooperativeTask<Table<UserObjectHosts>> {
  const objects = inputs.of(kind);
  const prefix = `${kind.kind}/`;
  const affected = since === undefined ? [...keysOf(objects)] : since.changes.of(kind).map(({ key }) => key);
  // What a short host is in full depends on the cluster's domain.
  if (since !== undefined && since.translationContext !== translationContext) affected.push(...keysOf(objects));
  return yield* recompute(
    before,
    affected.map((key) => `${prefix}${key}`),
    (key) => {
      const object = objects.row(key.slice(prefix.length));
      if (object === undefined || object.metadata.labels?.[NETWORKING_OWNER_LABEL] !== undefined) return undefined;
      return { key, object, hosts: hostsOf(object, translationContext.clusterDomains) };
    },
  );
}

/** The user objects that may be about the hosts of a Destination in some clusters, in key order, each once. */
export function userObjectsFor(
  destination: Destination,
  clusters: readonly string[],
  { claims, translationContext }: { readonly claims: readonly UserObjectHosts[]; readonly translationContext: TranslationContext },
): readonly UserObject[] {
  const service = destination.spec?.kubeService?.ref;
  if (claims.length === 0 || service === undefined) return NONE;
  const found = new Map<string, UserObject>();
  for (const clusterName of clusters) {
    const host = hostnameFrom(clusterName, { service, destination }, translationContext.clusterDomains);
    for (const { key, object, hosts } of claims) {
      if ((object.metadata.clusterName ?? "") !== clusterName) continue;
      if (hosts.some((one) => one === host || isWildcard(one))) found.set(key, object);
    }
  }
  return found.size === 0 ? NONE : [...found.keys()].sort().flatMap((key) => found.get(key) ?? []);
}

const NONE: readonly never[] = [];

/** Claims by the services, as `name.namespace`, that they may be about; those without a wildcard. */
export function byClaimedService({ hosts }: UserObjectHosts): readonly string[] {
  // Local and federated host names alike begin with both.
  return hosts.some(isWildcard) ? NONE : [...new Set(hosts.map((host) => host.split(".", 2).join(".")))];
}

/** Claims with a wildcard, which may be about any service, by cluster. */
export function byWildcardCluster({ object, hosts }: UserObjectHosts): readonly string[] {
  return hosts.some(isWildcard) ? [object.metadata.clusterName ?? ""] : NONE;
}

function isWildcard(host: string): boolean {
  return host.startsWith("*");
}

/** Objects of users, by their cluster: those without our label. */
export function byUsersCluster({ metadata }: Resource): readonly string[] {
  return metadata.labels?.[NETWORKING_OWNER_LABEL] === undefined ? [metadata.clusterName ?? ""] : NONE;
}
