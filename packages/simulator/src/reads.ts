import {
  type AnyResource,
  excessOf,
  formatRef,
  InvalidResource,
  type JsonObject,
  type Kind,
  matchesSelector,
  messageOf,
  type Resource,
  refOf,
} from "@isthmus/core";
import { ClusterError, type Malformed, type ResourceList, type WholeListOptions } from "@isthmus/ports";
import { isMembers } from "./apply/json.ts";
import { inVersion, type SimulatedState } from "./state.ts";
import type { Stored } from "./store.ts";
import { viewed } from "./writes.ts";

/** Objects as kinds understand them. What one reader has had parsed, the next one gets without work: objects never change. */
export class ParsedObjects {
  readonly #byKind = new WeakMap<Kind, WeakMap<object, WeakMap<AnyResource, Kept>>>();

  /** The object, or what is wrong with it. What `keep` gives of one object must follow from it. */
  read<R extends Resource>(kind: Kind<R>, resource: AnyResource, apiVersion: string, keep?: (resource: R) => R): Read<R> {
    const known = this.#tableOf(kind, keep ?? kind);
    const found = known.get(resource);
    // The table holds only what that kind has parsed.
    if (found?.apiVersion === apiVersion) return found.read as Read<R>;
    const read = readOf(kind, inVersion(resource, apiVersion), keep);
    known.set(resource, { apiVersion, read });
    return read;
  }

  #tableOf(kind: Kind, reader: object): WeakMap<AnyResource, Kept> {
    let ofKind = this.#byKind.get(kind);
    if (ofKind === undefined) {
      ofKind = new WeakMap();
      this.#byKind.set(kind, ofKind);
    }
    let ofReader = ofKind.get(reader);
    if (ofReader === undefined) {
      ofReader = new WeakMap();
      ofKind.set(reader, ofReader);
    }
    return ofReader;
  }
}

interface Kept {
  readonly apiVersion: string;
  readonly read: Read<Resource>;
}

function readOf<R extends Resource>(kind: Kind<R>, resource: AnyResource, keep: ((resource: R) => R) | undefined): Read<R> {
  const ref = refOf(resource);
  const excess = excessOf(resource, Number.POSITIVE_INFINITY);
  if (excess !== undefined) return { malformed: { ref, message: `${formatRef(ref)}: ${excess}`, ...statusIn(resource) } };
  try {
    const parsed = kind.parse(resource);
    return { resource: keep === undefined ? parsed : keep(parsed) };
  } catch (error) {
    const [message, ...further] = error instanceof InvalidResource ? error.messages : [];
    const problems = message === undefined ? { message: `${formatRef(ref)}: ${messageOf(error)}` } : { message, further };
    return { malformed: { ref, ...problems, ...statusIn(resource) } };
  }
}

/** The status of an object that can't be used, if that itself can be. */
function statusIn({ status }: AnyResource): Pick<Malformed, "status"> {
  return isMembers(status) && excessOf(status) === undefined ? { status: status as JsonObject } : {};
}

/** An object as its kind reads it: apart, as an object may have any fields. */
export type Read<R extends Resource> = { readonly resource: R } | { readonly malformed: Malformed };

/**
 * The object in the first of the kind's versions that is served, with its field managers; undefined where there is none. Throws
 * ClusterError `Unserved`, and `Invalid` with the field for an object that the kind does not parse.
 */
export function getObject<R extends Resource>(
  state: SimulatedState,
  kind: Kind<R>,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): R | undefined {
  const { served, apiVersion } = state.servedVersion(kind);
  const stored = served.store.get(namespace, name);
  if (stored === undefined) return undefined;
  let ofKind = gotten.get(kind);
  if (ofKind === undefined) {
    ofKind = new WeakMap();
    gotten.set(kind, ofKind);
  }
  const known = ofKind.get(stored);
  if (known?.apiVersion === apiVersion) return known as R;
  try {
    const parsed = kind.parse(viewed(stored, apiVersion));
    ofKind.set(stored, parsed);
    return parsed;
  } catch (error) {
    if (!(error instanceof InvalidResource)) throw error;
    throw new ClusterError("Invalid", error.message, error.path === "" ? {} : { fields: [error.path] }, error);
  }
}

// Those who look after an object ask for it at each of their turns; it is another one when it has changed.
const gotten = new WeakMap<Kind, WeakMap<Stored, Resource>>();

interface ListedKind<R extends Resource> {
  readonly kind: Kind<R>;
  /** The revision that is shown. Default: the latest. */
  readonly asOf?: number | undefined;
}

/**
 * The objects that are selected, in order of namespace and name. An `asOf` of which the changes are forgotten shows the latest revision.
 * Throws ClusterError `Unserved`.
 */
export function listObjects<R extends Resource>(
  state: SimulatedState,
  objects: ParsedObjects,
  { kind, namespace, name, labels, transform: keep, asOf }: WholeListOptions<R> & ListedKind<R>,
): ResourceList<R> {
  const { served, apiVersion } = state.servedVersion(kind);
  const items: R[] = [];
  const malformed: Malformed[] = [];
  // A state that is forgotten cannot be shown any more.
  const past = asOf !== undefined && asOf >= served.store.compacted ? asOf : undefined;
  const live = past === undefined ? [...served.store.in(namespace)].map((stored) => stored.resource) : served.store.inAsOf(namespace, past);
  for (const resource of live) {
    if (name !== undefined && resource.metadata.name !== name) continue;
    if (labels !== undefined && !matchesSelector(labels, resource.metadata.labels)) continue;
    const read = objects.read(kind, resource, apiVersion, keep);
    if ("malformed" in read) malformed.push(read.malformed);
    else items.push(read.resource);
  }
  return { items, malformed, resourceVersion: String(past ?? state.revision) };
}
