import { discoveryKinds, hasUserStatus, kindOf, parseOffline, unsupportedKind } from "@isthmus/api";
import { excessOf, formatRef, InvalidResource, type Kind, messageOf, type Resource, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import { withoutMembers } from "./readablePart.ts";
import { type InputObject, stepsOf } from "./unfold.ts";

/** What translation can use of the input, and what it can't. */
export interface Intake {
  readonly resources: readonly Resource[];
  /** Objects that are not of their kind; everything else continues without them. */
  readonly rejected: readonly RejectedObject[];
  /** What the person who gave the input may want to know, in the order of the input. */
  readonly notes: readonly Note[];
  /** Where a field of a resource stands in the input, such as `policies.yaml:14`; undefined for what was not in the input. */
  sourceOf(ref: ResourceRef, field: string): string | undefined;
  /** A field of a resource as it was given; undefined for what was not. */
  given(ref: ResourceRef, field: string): unknown;
}

/** Something about the input that changes nothing by itself. */
export interface Note {
  readonly code: "StatusIgnored" | "GivenTwice" | "KindIgnored" | "ClusterMissing" | "ClusterNotGiven";
  readonly message: string;
  /** The file that it is about, if it is one. */
  readonly file?: string;
}

/** An object that can't be used. */
export interface RejectedObject {
  /** The object's name; undefined when it has none. */
  readonly ref: ResourceRef | undefined;
  readonly generation: number | undefined;
  /** Whether it is of a kind that users write and that has a status: then the status must say it. */
  readonly isUsersOwn: boolean;
  readonly code: "Malformed" | "KindUnknown";
  /** What of it can be read, of a kind that users write: what is there, and what it refers to, is checked. */
  readonly readable?: Resource;
  /** All that is known to be wrong with it. */
  readonly problems: readonly RejectedProblem[];
}

interface RejectedProblem {
  /** Names object, field and remedy. */
  readonly message: string;
  /** Where the field stands. */
  readonly source: string;
}

/**
 * Sorts the objects of the input by what can be done with them. When one object is given twice, the later counts. What is nothing but a
 * status, as `--status` prints it, is no object and counts for nothing: statuses are computed again, and its object has to be given beside it.
 */
export function intake(objects: readonly InputObject[]): Intake {
  const resources = new Map<string, Resource>();
  const sources = new Map<string, InputObject>();
  const rejected = new Map<string, RejectedObject>();
  const unknown = new Map<string, InputObject[]>();
  const notes: Note[] = [];
  const statuses = objects.filter(isStatusAlone);
  for (const object of objects.filter((one) => !isStatusAlone(one))) {
    const { apiVersion, kind: name } = object.value;
    const kind = kindOf(apiVersion, name);
    if (kind === undefined) {
      const { isOurs, message } = unsupportedKind(object.value);
      if (isOurs) {
        rejected.set(`unread ${rejected.size}`, notRead(object, message));
        continue;
      }
      const found = unknown.get(`${apiVersion} ${name}`);
      if (found === undefined) unknown.set(`${apiVersion} ${name}`, [object]);
      else found.push(object);
      continue;
    }
    const resource = parsed(kind, object.value);
    const ref = refIn(object);
    // What has no name is nobody else's twin.
    const key = ref === undefined ? `nameless ${sources.size}` : resourceKeyOf(ref);
    const earlier = sources.get(key);
    if (ref !== undefined && earlier !== undefined) notes.push(givenTwice(ref, object, earlier));
    sources.set(key, object);
    // The later counts, whichever of the two can be used.
    resources.delete(key);
    rejected.delete(key);
    if (resource instanceof InvalidResource) rejected.set(key, rejectedObject(object, resource, kind));
    else resources.set(key, resource);
  }
  const lost = statuses.filter((object) => {
    const ref = refIn(object);
    return ref === undefined || !sources.has(resourceKeyOf(ref));
  });
  if (lost.length > 0) notes.unshift(statusesIgnored(lost));
  for (const [name, found] of unknown) notes.push(...ignored(name, found));
  const sourceOf = (ref: ResourceRef, field: string): string | undefined => {
    const object = sources.get(resourceKeyOf(ref));
    return object === undefined ? undefined : placeOf(object, field);
  };
  const given = (ref: ResourceRef, field: string): unknown => {
    const object = sources.get(resourceKeyOf(ref));
    return object === undefined ? undefined : memberAt(object.value, stepsOf(field));
  };
  return { resources: [...resources.values()], rejected: [...rejected.values()], notes, sourceOf, given };
}

/** What is at a place in an object; undefined where nothing is. */
export function memberAt(value: unknown, steps: readonly (string | number)[]): unknown {
  let member = value;
  for (const step of steps) {
    if (typeof member !== "object" || member === null || !Object.hasOwn(member, step)) return undefined;
    member = (member as Readonly<Record<string | number, unknown>>)[step];
  }
  return member;
}

// An object of a cluster has more metadata: at least a UID.
const NAMING: ReadonlySet<string> = new Set(["name", "namespace", "clusterName"]);

/** Whether an object is what `--status` prints of one that users write or that discovery makes. */
function isStatusAlone({ value }: InputObject): boolean {
  const { apiVersion, kind: name, metadata, status, ...rest } = value;
  const kind = kindOf(apiVersion, name);
  if (kind === undefined || status === undefined || Object.keys(rest).length > 0) return false;
  if (!hasUserStatus(kind) && !discoveryKinds().includes(kind)) return false;
  return Object.keys((metadata ?? {}) as object).every((key) => NAMING.has(key));
}

function statusesIgnored(statuses: readonly InputObject[]): Note {
  const [first] = statuses;
  const where = first === undefined ? "" : `${first.file}, document ${first.document}`;
  const what =
    statuses.length === 1
      ? `a status without its object (${where})`
      : `${statuses.length} statuses without their objects (the first in ${where})`;
  const whose = statuses.length === 1 ? "the file of its object" : "the files of their objects";
  return note("StatusIgnored", `ignored ${what}: statuses are recomputed, so add ${whose}`, first);
}

function parsed(kind: Kind, value: object): Resource | InvalidResource {
  try {
    return parseOffline(kind, value);
  } catch (error) {
    if (error instanceof InvalidResource) return error;
    // Whatever goes wrong with an object is its own fault: all others go on.
    return new InvalidResource(kind.kind, "", messageOf(error));
  }
}

function note(code: Note["code"], message: string, about: InputObject | undefined): Note {
  return { code, message, ...(about === undefined ? {} : { file: about.file }) };
}

function givenTwice(ref: ResourceRef, later: InputObject, earlier: InputObject): Note {
  const places = [placeOf(later), placeOf(earlier)];
  const [counts = "", other = ""] = places[0] === places[1] ? ["the last one", "the earlier one at the same place"] : places;
  return note("GivenTwice", `duplicate ${formatRef(ref)}: using ${counts}, ignoring ${other}`, later);
}

function ignored(name: string, [first, ...others]: readonly InputObject[]): Note[] {
  if (first === undefined) return [];
  // Without its line: finding that means to read the file a second time, and a dump is full of such objects.
  const where = `${first.file}, document ${first.document}`;
  const count = others.length === 0 ? where : `${others.length + 1} objects, the first in ${where}`;
  return [note("KindIgnored", `ignored ${name} (${count}): ${unsupportedKind(first.value).message}`, first)];
}

/** An object of an API of ours in a kind or version that is not read: somebody expects an effect of it. */
function notRead(object: InputObject, message: string): RejectedObject {
  const { apiVersion, kind } = object.value;
  const ref = refIn(object);
  const name = ref === undefined ? `${kind} without a name` : formatRef(ref);
  const problems = [{ message: `${name} (${apiVersion}): ${message}`, source: placeOf(object) }];
  return { ref, generation: undefined, isUsersOwn: false, code: "KindUnknown", problems };
}

function placeOf(object: InputObject, field = ""): string {
  return `${object.file}:${object.lineOf(field)}`;
}

/** The name of an object, whether or not the rest of it can be used; undefined for one without. */
function refIn({ value }: InputObject): ResourceRef | undefined {
  const { name, namespace, clusterName } = (value["metadata"] ?? {}) as Readonly<Record<string, unknown>>;
  const text = (field: unknown): string => (typeof field === "string" ? field : "");
  const { apiVersion, kind } = value;
  return text(name) === "" ? undefined : { apiVersion, kind, name: text(name), namespace: text(namespace), clusterName: text(clusterName) };
}

function rejectedObject(object: InputObject, error: InvalidResource, kind: Kind): RejectedObject {
  const { generation } = (object.value["metadata"] ?? {}) as Readonly<Record<string, unknown>>;
  const readable = hasUserStatus(kind) ? readablePart(kind, object.value, error) : undefined;
  return {
    ref: refIn(object),
    generation: typeof generation === "number" ? generation : undefined,
    isUsersOwn: hasUserStatus(kind),
    code: "Malformed",
    problems: error.problems.map(({ path }, i) => ({ message: error.messages[i] ?? "", source: placeOf(object, path) })),
    ...(readable === undefined ? {} : { readable }),
  };
}

function readablePart(kind: Kind, value: InputObject["value"], error: InvalidResource): Resource | undefined {
  // What is too much for a resource is not walked to its end.
  if (excessOf(value) !== undefined) return undefined;
  let read: Resource | InvalidResource = error;
  // Without a member, what holds it may be wrong.
  for (let left: object | undefined = value, i = 0; read instanceof InvalidResource && i < 4; i++) {
    left = withoutMembers(left, read.problems);
    if (left === undefined) return undefined;
    read = parsed(kind, left);
  }
  return read instanceof InvalidResource ? undefined : read;
}
