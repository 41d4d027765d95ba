import type { Metadata, Resource } from "./resource.ts";

/**
 * When the plane first saw an object of a workload cluster: the age by which it takes part in decisions, as its own `creationTimestamp` is
 * only that cluster's word. The server writes it when the object comes in and drops what an agent says there; it is kept with the
 * object in the store, and never written into a cluster. RFC 3339 with milliseconds, so that texts are ordered as moments are.
 */
export const FIRST_SEEN = "isthmus.mesh/first-seen";

/** When the plane first saw an object of a workload cluster; undefined for one of the management cluster, and where nobody kept it. */
export function firstSeenOf({ metadata }: Pick<Resource, "metadata">): string | undefined {
  const { clusterName = "", annotations } = metadata;
  return clusterName === "" ? undefined : annotations?.[FIRST_SEEN];
}

/** The object with that moment and no other; undefined: with none. */
export function withFirstSeen<R extends Resource>(resource: R, moment: string | undefined): R {
  const { annotations } = resource.metadata;
  if (annotations?.[FIRST_SEEN] === moment) return resource;
  const dated = moment === undefined ? withoutFirstSeen(annotations) : datedAnnotations(annotations, moment);
  // Field by field: objects that are made of spreads have a hidden class each (docs/decisions/0026).
  const metadata: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(resource.metadata)) if (key !== "annotations") metadata[key] = value;
  if (dated !== undefined) metadata["annotations"] = dated;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(resource)) copy[key] = key === "metadata" ? metadata : value;
  // The same fields, but for one of the metadata's.
  return copy as unknown as R;
}

type Annotations = NonNullable<Metadata["annotations"]>;

/** Annotations as they may be written into a cluster: the very same where there is nothing to leave out, undefined where nothing is left. */
export function withoutFirstSeen(annotations: Annotations | undefined): Annotations | undefined {
  if (annotations?.[FIRST_SEEN] === undefined) return annotations;
  const kept = Object.entries(annotations).filter(([key]) => key !== FIRST_SEEN);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function datedAnnotations(annotations: Annotations | undefined, moment: string): Annotations {
  if (annotations !== undefined && Object.keys(annotations).some((key) => key !== FIRST_SEEN))
    return { ...annotations, [FIRST_SEEN]: moment };
  // Most objects have no annotations of their own, and those of a cluster's first report one moment.
  if (lastAlone[FIRST_SEEN] !== moment) lastAlone = { [FIRST_SEEN]: moment };
  return lastAlone;
}

let lastAlone: Annotations = {};
