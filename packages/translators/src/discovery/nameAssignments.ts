import {
  type CooperativeTask,
  compareKeys,
  type EntryChange,
  emptyTable,
  formatRef,
  keyOfResource,
  type Report,
  type Resource,
  refOf,
  type Table,
} from "@isthmus/core";
import { versionsOf } from "../incremental/changes.ts";
import { recompute } from "../incremental/rows.ts";
import { type AgeSource, ageOf, compareAges } from "../policy/precedence.ts";
import { byDiscoveredName, type DiscoveredObject, type DiscoveryRow, withReports } from "./discoveryResult.ts";
import { finding } from "./findings.ts";

/** What was discovered from several objects, and who has the names that more than one of them would have. */
export interface NameAssignments<R extends Resource> {
  readonly rows: Table<DiscoveryRow<R>>;
  readonly nameConflicts: Table<Contest<R>>;
}

/** A name that several objects would be discovered under. */
interface Contest<R extends Resource> {
  readonly name: string;
  readonly holder: DiscoveryRow<R>;
  /** Those that had to yield it. */
  readonly displaced: readonly DiscoveryRow<R>[];
  readonly reports: readonly Report[];
}

/** Nothing discovered. */
export function noNameAssignments<R extends Resource>(): NameAssignments<R> {
  return { rows: emptyTable(({ key }) => key), nameConflicts: emptyTable(({ name }) => name) };
}

/** What new rows do to names. */
export interface NameChanges<R extends Resource> {
  readonly naming: NameAssignments<R>;
  /** The names that changed rows had or have. */
  readonly names: ReadonlySet<string>;
  /** What is discovered under a name, where that is not as it was. */
  readonly changes: readonly EntryChange<DiscoveredObject<R>>[];
}

/**
 * Decides who has which name. Of several objects discovered under one name the oldest keeps it, as the management plane has recorded where they are
 * of workload clusters, so that a new object never takes a name that is in use. All of them are reported.
 */
export function* assignNames<R extends Resource>(
  rows: Table<DiscoveryRow<R>>,
  before: NameAssignments<R>,
  ages: AgeSource,
): CooperativeTask<NameChanges<R>> {
  const names = new Set<string>();
  for (const row of versionsOf(rows.changesSince(before.rows))) for (const name of byDiscoveredName(row)) names.add(name);
  yield* rows.indexed(byDiscoveredName);
  const changes: EntryChange<DiscoveredObject<R>>[] = [];
  const nameConflicts = yield* recompute(before.nameConflicts, names, (name) => {
    const claimants = rows.where(byDiscoveredName, name);
    const contest = claimants.length < 2 ? undefined : contestOf(name, claimants, ages);
    const [was, winner] = [nameWinner(before, name)?.result.output, (contest?.holder ?? claimants[0])?.result.output];
    if (was !== winner) changes.push({ key: name, before: was, after: winner });
    return contest;
  });
  return { naming: { rows, nameConflicts }, names, changes };
}

/** Every finding about the objects that were looked at, and about their names. */
export function discoveryReports<R extends Resource>({ rows, nameConflicts }: NameAssignments<R>): readonly Report[] {
  return [...rows.where(withReports, "").flatMap(({ result }) => result.reports), ...[...nameConflicts].flatMap(({ reports }) => reports)];
}

/** Who has a name. */
export function nameWinner<R extends Resource>({ rows, nameConflicts }: NameAssignments<R>, name: string): DiscoveryRow<R> | undefined {
  return nameConflicts.row(name)?.holder ?? rows.where(byDiscoveredName, name)[0];
}

/** Who would have a name and yielded it. */
export function nameLosers<R extends Resource>({ nameConflicts }: NameAssignments<R>, name: string): readonly DiscoveryRow<R>[] {
  return nameConflicts.row(name)?.displaced ?? [];
}

function contestOf<R extends Resource>(name: string, claimants: readonly DiscoveryRow<R>[], ages: AgeSource): Contest<R> {
  const holder = claimants.reduce((oldest, claimant) => (isBefore(claimant.source, oldest.source, ages) ? claimant : oldest));
  const displaced = claimants.filter((claimant) => claimant !== holder);
  return { name, holder, displaced, reports: collision(name, holder.source, displaced) };
}

/** Of two that are of one age, or that do not say it, the last in key order counts as the older: the published product keeps that one. */
function isBefore(a: Resource, b: Resource, ages: AgeSource): boolean {
  return (compareAges(ageOf(a.metadata, ages), ageOf(b.metadata, ages)) || compareKeys(keyOfResource(b), keyOfResource(a))) < 0;
}

function collision(name: string, holder: Resource, displaced: readonly DiscoveryRow<Resource>[]): readonly Report[] {
  const others = displaced.map(({ source }) => refOf(source));
  const held = `is discovered as ${name}; ${others.map(formatRef).join(", ")} would have the same name, which the oldest keeps: rename one of them`;
  return [
    finding(refOf(holder), "WARNING", "NameCollision", held),
    ...others.map((ref) => {
      const message = `is not discovered: the older ${formatRef(refOf(holder))} already has the name ${name}: rename one of them`;
      return finding(ref, "INVALID", "NameCollision", message);
    }),
  ];
}
