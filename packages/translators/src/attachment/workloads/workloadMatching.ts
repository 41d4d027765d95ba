import type { Workload, WorkloadSelector } from "@isthmus/api";
import { keyOfResource, type Resource } from "@isthmus/core";
import type { Matching } from "../../incremental/matching.ts";
import { selectsWorkload } from "../../policy/selectors.ts";
import { selectableTraitsOf, traitsOfSources } from "../../policy/workloadTraits.ts";

/** The relation between Workloads and the objects of one kind that select them. */
export interface WorkloadMatching<P> {
  /** A Workload and the objects that select it, wherever it is, in key order. */
  readonly selecting: Matching<Workload, P>;
  /** An object and a Workload that it selects; the first is enough to know that there are some. */
  readonly first: Matching<P, Workload>;
}

/** `selectorsOf`: what of an object is in force; an empty list selects all Workloads, undefined none. */
export function workloadMatching<P extends Resource>(
  selectorsOf: (policy: P) => readonly WorkloadSelector[] | undefined,
): WorkloadMatching<P> {
  const isSelected = (policy: P, workload: Workload) => {
    const selectors = selectorsOf(policy);
    return selectors !== undefined && selectsWorkload(selectors, workload);
  };
  const byTrait = (policy: P): readonly string[] => {
    const selectors = selectorsOf(policy);
    if (selectors === undefined) return NONE;
    const traits = traitsOfSources(selectors);
    return traits === "any" ? [ANY] : traits;
  };
  const selecting: Matching<Workload, P> = {
    find(workload, policies) {
      const found = new Set([ANY, ...selectableTraitsOf(workload)].flatMap((trait) => policies.where(byTrait, trait)));
      return uniqueInKeyOrder([...found].filter((policy) => isSelected(policy, workload)));
    },
    *findBack(policy, workloads) {
      for (const trait of byTrait(policy)) {
        if (trait !== ANY) yield* workloads.where(selectableTraitsOf, trait);
        else for (const [, workload] of workloads.entries()) yield workload;
      }
    },
    isSameAsking: (before, after) => before.spec?.kubernetes === after.spec?.kubernetes,
    isSameFound: (before, after) => before === after,
    indexes: [byTrait],
    backIndexes: [selectableTraitsOf],
  };
  const first: Matching<P, Workload> = {
    find(policy, workloads) {
      for (const workload of selecting.findBack(policy, workloads)) if (isSelected(policy, workload)) return [workload];
      return NONE;
    },
    *findBack(workload, policies) {
      for (const trait of [ANY, ...selectableTraitsOf(workload)]) yield* policies.where(byTrait, trait);
    },
    isSameAsking: (before, after) => before === after,
    isSameFound: (before, after) => before.spec?.kubernetes === after.spec?.kubernetes,
    indexes: [selectableTraitsOf],
    backIndexes: [byTrait],
  };
  return { selecting, first };
}

/** Each once, by its key. */
export function uniqueInKeyOrder<R extends Resource>(found: readonly R[]): readonly R[] {
  if (found.length < 2) return found;
  const byKey = new Map(found.map((one) => [keyOfResource(one), one]));
  return [...byKey.keys()].sort().flatMap((key) => byKey.get(key) ?? []);
}

// Traits begin with a word and a space.
const ANY = "any";
const NONE: readonly never[] = [];
