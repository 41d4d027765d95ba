import {
  type Change,
  compareKeys,
  emptyTable,
  formatRef,
  keyOfResource,
  type Report,
  type Resource,
  refOf,
  type Steps,
  type Table,
} from "@isthmus/core";
import { versionsOf } from "../incremental/changes.ts";
import { remade } from "../incremental/rows.ts";
import { type Ages, ageOf, compareAges } from "../precedence.ts";
import { finding } from "./findings.ts";
import { byFoundName, type Found, type Sourced, withReports } from "./found.ts";

/** What was discovered from several objects, and who has the names that more than one of them would have. */
export interface Naming<R extends Resource> {
  readonly rows: Table<Sourced<R>>;
  readonly contests: Table<Contest<R>>;
}

/** A name that several objects would be discovered under. */
interface Contest<R extends Resource> {
  readonly name: string;
  readonly holder: Sourced<R>;
  /** Those that had to yield it. */
  readonly displaced: readonly Sourced<R>[];
  readonly reports: readonly Report[];
}

/** Nothing discovered. */
export function nothingNamed<R extends Resource>(): Naming<R> {
  return { rows: emptyTable(({ key }) => key), contests: emptyTable(({ name }) => name) };
}

/** What new rows do to names. */
export interface Renaming<R extends Resource> {
  readonly naming: Naming<R>;
  /** The names that changed rows had or have. */
  readonly names: ReadonlySet<string>;
  /** What is discovered under a name, where that is not as it was. */
  readonly changes: readonly Change<Found<R>>[];
}

/**
 * Decides who has which name. Of several objects discovered under one name the oldest keeps it, by the plane's word where they are
 * of workload clusters, so that a new object never takes a name that is in use. All of them are told.
 */
export function* renamed<R extends Resource>(rows: Table<Sourced<R>>, before: Naming<R>, ages: Ages): Steps<Renaming<R>> {
  const names = new Set<string>();
  for (const row of versionsOf(rows.changesSince(before.rows))) for (const name of byFoundName(row)) names.add(name);
  yield* rows.indexed(byFoundName);
  const contests = yield* remade(before.contests, names, (name) => {
    const claimants = rows.where(byFoundName, name);
    return claimants.length < 2 ? undefined : contestOf(name, claimants, ages);
  });
  const naming = { rows, contests };
  const changes: Change<Found<R>>[] = [];
  for (const name of names) {
    const change = { key: name, before: holderOf(before, name)?.result.output, after: holderOf(naming, name)?.result.output };
    if (change.before !== change.after) changes.push(change);
    yield;
  }
  return { naming, names, changes };
}

/** Every finding about the objects that were looked at, and about their names. */
export function reportsOf<R extends Resource>({ rows, contests }: Naming<R>): readonly Report[] {
  return [...rows.where(withReports, "").flatMap(({ result }) => result.reports), ...[...contests].flatMap(({ reports }) => reports)];
}

/** Who has a name. */
export function holderOf<R extends Resource>({ rows, contests }: Naming<R>, name: string): Sourced<R> | undefined {
  return contests.row(name)?.holder ?? rows.where(byFoundName, name)[0];
}

/** Who would have a name and yielded it. */
export function displacedFrom<R extends Resource>({ contests }: Naming<R>, name: string): readonly Sourced<R>[] {
  return contests.row(name)?.displaced ?? [];
}

function contestOf<R extends Resource>(name: string, claimants: readonly Sourced<R>[], ages: Ages): Contest<R> {
  const holder = claimants.reduce((oldest, claimant) => (isBefore(claimant.source, oldest.source, ages) ? claimant : oldest));
  const displaced = claimants.filter((claimant) => claimant !== holder);
  return { name, holder, displaced, reports: collision(name, holder.source, displaced) };
}

/** Of two that are of one age, or that do not say it, the last in key order counts as the older: the published product keeps that one. */
function isBefore(a: Resource, b: Resource, ages: Ages): boolean {
  return (compareAges(ageOf(a.metadata, ages), ageOf(b.metadata, ages)) || compareKeys(keyOfResource(b), keyOfResource(a))) < 0;
}

function collision(name: string, holder: Resource, displaced: readonly Sourced<Resource>[]): readonly Report[] {
  const others = displaced.map(({ source }) => refOf(source));
  const held = `is discovered as ${name}, as ${others.map(formatRef).join(", ")} would be, too; the oldest keeps the name: rename one of them`;
  return [
    finding(refOf(holder), "WARNING", "NameCollision", held),
    ...others.map((ref) => {
      const message = `is not discovered: it would be ${name}, and the older ${formatRef(refOf(holder))} is that already: rename one of them`;
      return finding(ref, "INVALID", "NameCollision", message);
    }),
  ];
}
