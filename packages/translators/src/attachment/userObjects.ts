import { type Destination, DestinationRule, VirtualService } from "@isthmus/api";
import { emptyTable, type Kind, type Steps, type Table } from "@isthmus/core";
import { keysOf, remade } from "../incremental/rows.ts";
import type { Surroundings, UserObject } from "../inputs.ts";
import { hostnameFrom } from "../networking/istio/hostnames.ts";
import type { Source } from "../networking/istio/source.ts";
import { hostsOf } from "../networking/istio/userObjects.ts";
import { NETWORKING_OWNER_LABEL } from "../networking/outputMetadata.ts";
import type { AttachmentStep } from "./attachment.ts";

/** An Istio object that this product did not write, and the hosts that it is about. */
export interface HostClaim {
  readonly key: string;
  readonly object: UserObject;
  readonly hosts: readonly string[];
}

/** No object of a user. */
export function noHostClaims(): Table<HostClaim> {
  return emptyTable(({ key }) => key);
}

/** The VirtualServices and DestinationRules of users. */
export function* hostClaims(step: AttachmentStep, before: Table<HostClaim>): Steps<Table<HostClaim>> {
  return yield* claimsOf(step, yield* claimsOf(step, before, VirtualService), DestinationRule);
}

function* claimsOf(
  { inputs, surroundings, since }: AttachmentStep,
  before: Table<HostClaim>,
  kind: Kind<UserObject>,
): Steps<Table<HostClaim>> {
  const objects = inputs.of(kind);
  const prefix = `${kind.kind}/`;
  const affected = since === undefined ? [...keysOf(objects)] : since.changes.of(kind).map(({ key }) => key);
  // What a short host is in full depends on the cluster's domain.
  if (since !== undefined && since.surroundings !== surroundings) affected.push(...keysOf(objects));
  return yield* remade(
    before,
    affected.map((key) => `${prefix}${key}`),
    (key) => {
      const object = objects.row(key.slice(prefix.length));
      if (object === undefined || object.metadata.labels?.[NETWORKING_OWNER_LABEL] !== undefined) return undefined;
      return { key, object, hosts: hostsOf(object, surroundings.clusterDomains) };
    },
  );
}

/** The objects of users that may be about the hosts of a Destination, in key order, each once. */
export function userObjectsFor(
  destination: Destination,
  sources: readonly Source[],
  { claims, surroundings }: { readonly claims: Table<HostClaim>; readonly surroundings: Surroundings },
): readonly UserObject[] {
  const service = destination.spec?.kubeService?.ref;
  if (claims.size === 0 || service === undefined) return NONE;
  const found = new Map<string, UserObject>();
  for (const { clusterName } of sources) {
    const host = hostnameFrom(clusterName, { service, destination }, surroundings.clusterDomains);
    for (const name of [host, "*"]) for (const { key, object } of claims.where(byHost, placeKey(clusterName, name))) found.set(key, object);
  }
  return found.size === 0 ? NONE : [...found.keys()].sort().flatMap((key) => found.get(key) ?? []);
}

const NONE: readonly never[] = [];

/** Claims by cluster and host; those with a wildcard stand under `*`. */
function byHost({ object, hosts }: HostClaim): readonly string[] {
  return hosts.map((host) => placeKey(object.metadata.clusterName ?? "", host.startsWith("*") ? "*" : host));
}

function placeKey(clusterName: string, host: string): string {
  return `${clusterName}/${host}`;
}

/** The services, by `name.namespace`, that an object of a user may be about; "any" where a wildcard is among its hosts. */
export function serviceNamesOf({ hosts }: HostClaim): readonly string[] | "any" {
  // Local and federated host names alike begin with both.
  return hosts.some((host) => host.startsWith("*")) ? "any" : hosts.map((host) => host.split(".", 2).join("."));
}
