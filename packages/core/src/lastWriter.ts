import type { JsonObject, Metadata, Resource } from "./resource.ts";
import { keptText } from "./text/keptText.ts";

/**
 * Who changed the spec of a user's object last, and when: a field manager, as its API server has noted it. Set when the object is read, in place of `managedFields`, which are many times as large;
 * kept with the object in the store, and never written into a cluster. What an object itself says there is dropped.
 */
export const LAST_WRITER = "isthmus.mesh/last-writer";

/** A field manager and a time, RFC 3339. */
export interface LastWriter {
  readonly manager: string;
  readonly time: string;
}

/** Undefined where nobody has noted it, and for what an agent or a file says that is no such note. */
export function lastWriterOf({ metadata }: Pick<Resource, "metadata">): LastWriter | undefined {
  const text = metadata.annotations?.[LAST_WRITER];
  const at = text?.indexOf(" ") ?? -1;
  if (text === undefined || at < 0) return undefined;
  const [time, manager] = [text.slice(0, at), text.slice(at + 1)];
  return isTime(time) && manager !== "" && manager.length <= LONGEST ? { time, manager } : undefined;
}

/** An object as it is read, with the last writer that its API server names; without a word of its own about that. */
export function withLastWriter<R extends Resource>(resource: R, managedFields: unknown): R {
  const writer = lastWriterIn(managedFields);
  const { annotations: given, ...metadata } = resource.metadata;
  const kept = withoutLastWriter(given);
  if (writer === undefined && kept === given) return resource;
  const annotations = writer === undefined ? kept : { ...kept, [LAST_WRITER]: `${writer.time} ${writer.manager}` };
  return { ...resource, metadata: annotations === undefined ? metadata : { ...metadata, annotations } };
}

/** Annotations as they may be written into a cluster: the very same where there is nothing to leave out, undefined where nothing is left. */
export function withoutLastWriter(annotations: Metadata["annotations"]): Metadata["annotations"] {
  if (annotations?.[LAST_WRITER] === undefined) return annotations;
  const kept = Object.entries(annotations).filter(([key]) => key !== LAST_WRITER);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** Of the managers that own something of the spec the one that wrote last. A status is written by others. */
function lastWriterIn(managedFields: unknown): LastWriter | undefined {
  let last: LastWriter | undefined;
  for (const entry of Array.isArray(managedFields) ? (managedFields as readonly JsonObject[]) : []) {
    const { manager, time, subresource = "", fieldsV1 } = entry ?? {};
    if (typeof manager !== "string" || manager === "" || typeof time !== "string" || !isTime(time) || subresource !== "") continue;
    if (typeof fieldsV1 !== "object" || fieldsV1 === null || !Object.hasOwn(fieldsV1, "f:spec")) continue;
    if (last === undefined || Date.parse(time) >= Date.parse(last.time)) last = { manager: keptText(manager, LONGEST), time };
  }
  return last;
}

function isTime(text: string): boolean {
  return text.length <= LONGEST_TIME && !text.includes(" ") && !Number.isNaN(Date.parse(text));
}

// RFC 3339, with nanoseconds and an offset.
const LONGEST_TIME = 35;
// As API servers bound it. Source: Kubernetes, apimachinery, `ValidateFieldManager`.
const LONGEST = 128;
