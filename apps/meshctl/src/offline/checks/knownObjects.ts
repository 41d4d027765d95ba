import type { Kind, Resource, ResourceRef } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";
import type { RejectedObject } from "../intake.ts";

/** What an offline check may look at beside the object that it is about. */
export interface KnownObjects {
  /** Objects of a kind: those of the input, and those that were discovered in it. */
  of<R extends Resource>(kind: Kind<R>): readonly R[];
  /** A member of an object as it was given; undefined for what was not. */
  given(ref: ResourceRef, field: string): unknown;
  /** Objects of the input that cannot be used. */
  readonly rejected: readonly RejectedObject[];
  readonly translation: Translation;
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** Whether all of the input is from one workload cluster. */
  readonly isOneCluster: boolean;
}

type Sources = Omit<KnownObjects, "of"> & { readonly resources: readonly Resource[] };

/** Everything that is known of a world that was read from files. */
export function knownObjects({ resources, ...others }: Sources): KnownObjects {
  const byKind = new Map<string, Resource[]>();
  const add = (resource: Resource): void => {
    const list = byKind.get(resource.kind);
    if (list === undefined) byKind.set(resource.kind, [resource]);
    else list.push(resource);
  };
  for (const resource of resources) add(resource);
  for (const { resource } of others.translation.discovery) add(resource);
  // A name of two groups' kinds would need the group as well: `parse` has checked that there is none.
  return { ...others, of: <R extends Resource>(kind: Kind<R>) => (byKind.get(kind.kind) ?? []) as readonly Resource[] as readonly R[] };
}

/** Something doubtful about an object of the input: a warning, unless it is an error. */
export interface Doubt {
  readonly object: Resource;
  readonly code: string;
  /** Begins with the field that it is about, if it is about one. */
  readonly message: string;
  readonly isError?: true;
}
