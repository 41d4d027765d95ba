import { declaredAlone } from "./declaredFields.ts";
import { type DefinedKind, type DefinedResource, defineKind } from "./defineKind.ts";

type Counted = DefinedResource<Record<never, never>>;

/**
 * A kind of which no rule reads more than that an object is there: it is counted for each mesh and shown, so that somebody who looks for a cause sees it.
 * `versions`: the preferred one first.
 */
export function countedKind(kind: string, plural: string, versions: readonly string[]): DefinedKind<Counted> {
  const [apiVersion = ""] = versions;
  return defineKind<Record<never, never>>({ apiVersion, kind, plural, versions, fields: {} }, namedAlone);
}

/** Of an object of users' its name, labels and age, and nothing of what is in it. */
export const namedAlone: (resource: Counted) => Counted = declaredAlone<Record<never, never>>({});
