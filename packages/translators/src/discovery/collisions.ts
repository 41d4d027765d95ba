import { compareKeys, formatRef, keyOfResource, type Report, type Resource, refOf } from "@isthmus/core";
import { finding } from "./findings.ts";
import type { Found } from "./found.ts";

/** What was discovered from one object. */
export interface Discovered<R extends Resource> {
  readonly source: Resource;
  readonly output: Found<R>;
}

/** What is left of several discovered objects, each with a name of its own. */
export interface Uncollided<R extends Resource> {
  readonly outputs: readonly Found<R>[];
  /** What had to yield its name. */
  readonly displaced: readonly Discovered<R>[];
  readonly reports: readonly Report[];
}

/**
 * Of several objects discovered under one name the oldest keeps it, so that a new object never takes a name that is in use.
 * All of them are told.
 */
export function withoutCollisions<R extends Resource>(all: Iterable<Discovered<R>>): Uncollided<R> {
  const holders = new Map<string, Discovered<R>>();
  const shared = new Map<string, Discovered<R>[]>();
  for (const discovered of all) {
    const { name } = discovered.output.resource.metadata;
    const holder = holders.get(name);
    if (holder === undefined) holders.set(name, discovered);
    else {
      shared.set(name, [...(shared.get(name) ?? [holder]), discovered]);
      if (isOlder(discovered.source, holder.source)) holders.set(name, discovered);
    }
  }
  const reports = [...shared].flatMap(([name, claimants]) => collision(name, claimants, holders.get(name)));
  const displaced = [...shared].flatMap(([name, claimants]) => claimants.filter((claimant) => claimant !== holders.get(name)));
  return { outputs: [...holders.values()].map(({ output }) => output), displaced, reports };
}

/** Of two that are of one age, or that do not say it, the last in key order counts as the older: the published product keeps that one. */
function isOlder(a: Resource, b: Resource): boolean {
  const [left = "", right = ""] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  return left === right ? compareKeys(keyOfResource(a), keyOfResource(b)) > 0 : left < right;
}

function collision(name: string, claimants: readonly Discovered<Resource>[], holder: Discovered<Resource> | undefined): Report[] {
  if (holder === undefined) return [];
  const others = claimants.filter((claimant) => claimant !== holder).map(({ source }) => refOf(source));
  const held = `is discovered as ${name}, as ${others.map(formatRef).join(", ")} would be, too; the oldest keeps the name: rename one of them`;
  return [
    finding(refOf(holder.source), "WARNING", "NameCollision", held),
    ...others.map((ref) => {
      const message = `is not discovered: it would be ${name}, and the older ${formatRef(refOf(holder.source))} is that already: rename one of them`;
      return finding(ref, "INVALID", "NameCollision", message);
    }),
  ];
}
