import { kindOf } from "@isthmus/api";
import { type AnyResource, formatRef, type Resource, refOf } from "@isthmus/core";
import { readDocuments } from "@isthmus/testing";

/** What somebody does to a fleet. */
export type Change = (fleet: readonly Resource[]) => readonly Resource[];

/** One mistake or mishap in a fleet in which all else is right. */
export interface Fault {
  readonly title: string;
  readonly change: Change;
  /** By which code it is found. */
  readonly code: string;
  /** On which object, as `formatRef` writes it. */
  readonly on: string;
  /** What else follows from it: a code and patterns of objects, with the reason. */
  readonly also?: Readonly<Record<string, string>>;
}

/** Changes an object by a merge patch, as YAML. Throws when there is no such object, or the patch changes nothing. Source: RFC 7386. */
export function patch(name: string, yaml: string): Change {
  const [merge] = readDocuments(yaml);
  return (fleet) => {
    const found = fleet.filter((object) => formatRef(refOf(object)) === name);
    if (found.length !== 1) throw new Error(`${found.length} objects are ${name}`);
    return fleet.map((object) => (object === found[0] ? parsed(merged(object, merge) as AnyResource) : object));
  };
}

function merged(value: unknown, change: unknown): unknown {
  if (!isRecord(change)) return change;
  const result = new Map(isRecord(value) ? Object.entries(value) : []);
  for (const [key, member] of Object.entries(change)) {
    if (member === null) result.delete(key);
    else result.set(key, merged(result.get(key), member));
  }
  return Object.fromEntries(result);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Adds objects, as YAML. */
export function add(yaml: string): Change {
  return (fleet) => [...fleet, ...(readDocuments(yaml) as readonly AnyResource[]).map(parsed)];
}

/** Removes objects. Throws when one is not there. */
export function remove(...names: readonly string[]): Change {
  return (fleet) => {
    const rest = fleet.filter((object) => !names.includes(formatRef(refOf(object))));
    if (rest.length !== fleet.length - names.length) throw new Error(`not all of these are there: ${names.join(", ")}`);
    return rest;
  };
}

/** Takes the endpoints of a Service away, as when none of its pods is ready. */
export function withoutEndpoints(service: string, namespace: string, cluster: string): Change {
  return (fleet) =>
    fleet.map((object) => {
      const { labels = {}, clusterName } = object.metadata;
      const isOf = labels["kubernetes.io/service-name"] === service && object.metadata.namespace === namespace && clusterName === cluster;
      return object.kind === "EndpointSlice" && isOf ? parsed(merged(object, { endpoints: [] }) as AnyResource) : object;
    });
}

/** Several changes, one after the other. */
export function changes(...all: readonly Change[]): Change {
  return (fleet) => all.reduce((changed, change) => change(changed), fleet);
}

function parsed(object: AnyResource): Resource {
  return kindOf(object.apiVersion, object.kind)?.parse(object) ?? object;
}
