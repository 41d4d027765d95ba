import type { CooperativeTask } from "@isthmus/core";
import type { AccessEvaluator, Verdict } from "@isthmus/translators";
import { type AccessAxes, type CallerRow, cellVerdict, otherCallersVerdict, type TargetColumn } from "./accessMatrix.ts";

// Each is a few microseconds; more than a person waits for.
const MOST_VERDICTS = 200_000;

/** Which services nobody may call. */
export interface ClosedTargets {
  /** Their names, in order. */
  readonly closed: readonly string[];
  /** Of how many there is an answer. */
  readonly known: number;
  /** How many could not be asked about, as there are too many callers. */
  readonly unasked: number;
}

/** Services that no service account of a Workload may call, and no other caller either. What depends on something, or is not known, is no refusal. */
export function* closedTargets(
  evaluator: AccessEvaluator,
  { rows, columns }: AccessAxes,
  most = MOST_VERDICTS,
): CooperativeTask<ClosedTargets> {
  const closed: string[] = [];
  let [known, unasked, asked] = [0, 0, 0];
  for (const column of columns) {
    yield;
    const others = otherCallersVerdict(evaluator, column);
    asked++;
    if (others === undefined) continue;
    if (others !== "DENIED") {
      known++;
      continue;
    }
    if (asked + rows.length > most) {
      unasked++;
      continue;
    }
    known++;
    let isClosed = true;
    for (const row of rows) {
      yield;
      asked++;
      const verdict = cellVerdict(evaluator, row, column);
      if (verdict !== undefined && verdict !== "DENIED" && verdict !== "UNREACHABLE") {
        isClosed = false;
        break;
      }
    }
    if (isClosed) closed.push(column.name);
  }
  return { closed, known, unasked };
}

/** Names by what is said of them. */
export interface VerdictGroups {
  readonly groups: ReadonlyMap<Verdict, readonly string[]>;
  /** How many have an answer. */
  readonly known: number;
  readonly unasked: number;
}

/** What a caller may call. */
export function* callsOf(evaluator: AccessEvaluator, row: CallerRow, columns: readonly TargetColumn[]): CooperativeTask<VerdictGroups> {
  return yield* grouped(columns, (column) => cellVerdict(evaluator, row, column));
}

/** Who may call a service, of the service accounts of Workloads. */
export function* callersOf(evaluator: AccessEvaluator, column: TargetColumn, rows: readonly CallerRow[]): CooperativeTask<VerdictGroups> {
  return yield* grouped(rows, (row) => cellVerdict(evaluator, row, column));
}

function* grouped<T extends { readonly name: string }>(
  all: readonly T[],
  verdictOf: (one: T) => ReturnType<typeof cellVerdict>,
): CooperativeTask<VerdictGroups> {
  const groups = new Map<Verdict, string[]>();
  let known = 0;
  for (const one of all.slice(0, MOST_VERDICTS)) {
    yield;
    const verdict = verdictOf(one);
    // One caller and one Service are never several answers.
    if (verdict === undefined || verdict === "MIXED") continue;
    known++;
    const group = groups.get(verdict);
    if (group === undefined) groups.set(verdict, [one.name]);
    else group.push(one.name);
  }
  return { groups, known, unasked: Math.max(0, all.length - MOST_VERDICTS) };
}
