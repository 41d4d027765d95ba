import {
  type CooperativeTask,
  equalJson,
  keyOf,
  keyOfResource,
  kindKeyOf,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
} from "@isthmus/core";
import { changedStatuses, computeStatuses, type Translation, translatedFieldsOf, translateInSteps } from "@isthmus/translators";
import { POLICY_KINDS } from "../data/kinds.ts";
import type { FleetTranslation } from "./fleetTranslation.ts";

/** An object that would be written, changed or deleted in a cluster. */
export interface OutputChange {
  /** `resourceKeyOf` the object. */
  readonly key: string;
  readonly before: Resource | undefined;
  readonly after: Resource | undefined;
}

/** A policy with the status that it has, and would have. */
export interface StatusChange {
  readonly before: Resource | undefined;
  readonly after: Resource;
}

/** What would follow from policies that nobody has written. */
export interface WhatIf {
  /** Of the fleet with those policies. */
  readonly translation: Translation;
  /** Those policies, with the statuses that they would get. */
  readonly proposed: readonly StatusChange[];
  /** Cluster by cluster. */
  readonly outputs: readonly OutputChange[];
  /** Other policies whose statuses would change: conflicts, what they lose, what they gain. */
  readonly others: readonly StatusChange[];
}

/** Translates a fleet once more, with these policies in the management cluster, and compares. Costs what follows from them. */
export function* whatIf(base: FleetTranslation, objects: readonly Resource[]): CooperativeTask<WhatIf> {
  const { translation, statuses, snapshot } = base;
  const { given, options } = translation.cache;
  const known = (object: Resource) => snapshot.collections().get(kindKeyOf(object))?.row(keyOfResource(object));
  const put = objects.map((object) => translatedFieldsOf(asWritten(object, known(object))));
  const after = yield* translateInSteps(given.apply({ put, remove: [] }), options, translation);
  const statusesAfter = yield* computeStatuses(after, undefined, statuses);
  const withStatus = (object: Resource): Resource => ({ ...object, status: statusesAfter.of(refOf(object))?.status }) as Resource;
  const own = new Set(objects.map((object) => resourceKeyOf(refOf(object))));
  const others = changedStatuses(statusesAfter, statuses).flatMap((ref): readonly StatusChange[] => {
    if (own.has(resourceKeyOf(ref)) || !POLICIES.has(kindKeyOf(ref))) return [];
    const object = snapshot.collections().get(kindKeyOf(ref))?.row(keyOf(ref));
    if (object === undefined) return [];
    const [was, is] = [statuses.of(ref)?.status, statusesAfter.of(ref)?.status];
    return equalJson(was, is) ? [] : [{ before: { ...object, status: was } as Resource, after: { ...object, status: is } as Resource }];
  });
  return {
    translation: after,
    proposed: objects.map((object) => ({ before: known(object), after: withStatus(object) })),
    outputs: outputChanges(translation, after),
    others,
  };
}

/** What is in clusters because of a policy: each object as it would be without it, and as it is. Costs what follows from the policy. */
export function* withoutPolicy({ translation }: FleetTranslation, policy: ResourceRef): CooperativeTask<readonly OutputChange[]> {
  const { given, options } = translation.cache;
  const without = yield* translateInSteps(given.apply({ put: [], remove: [policy] }), options, translation);
  return outputChanges(without, translation);
}

function outputChanges(from: Translation, to: Translation): readonly OutputChange[] {
  return to.networking
    .changesSince(from.networking)
    .flatMap(({ key, before, after }) =>
      equalJson(before?.resource, after?.resource) ? [] : [{ key, before: before?.resource, after: after?.resource }],
    );
}

const POLICIES: ReadonlySet<string> = new Set(POLICY_KINDS.map(kindKeyOf));

/**
 * An object as an API server would have it, had somebody applied it now. What was last in force of it stays known. One that does not exist
 * has no time, so that it is younger than each that does, whatever the clocks say.
 */
function asWritten(object: Resource, before: Resource | undefined): Resource {
  const { creationTimestamp, generation = 0, uid } = before?.metadata ?? {};
  const { spec, status } = (before ?? {}) as { readonly spec?: unknown; readonly status?: object };
  const isSameSpec = before !== undefined && equalJson(spec, (object as { readonly spec?: unknown }).spec);
  return {
    ...object,
    metadata: {
      ...object.metadata,
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      generation: isSameSpec ? generation : generation + 1,
      ...(uid === undefined ? {} : { uid }),
    },
    ...(status === undefined ? {} : { status }),
  } as Resource;
}
