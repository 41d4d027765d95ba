import { type ResourceRef, refOf } from "@isthmus/core";
import type { AccessCaller, AccessEvaluator, Verdict } from "@isthmus/translators";
import type { Fleet } from "../data/fleet.ts";
import { Destination, Workload } from "../data/kinds.ts";
import { type Filter, matchesFilter } from "../model/lines/tokens.ts";
import { isInScope, type Scope } from "../model/scope.ts";

/** Who calls: a service account, or those of a namespace. */
export interface CallerRow {
  /** `cluster/namespace/serviceAccount`, or without the last. */
  readonly name: string;
  readonly callers: readonly AccessCaller[];
}

/** What is called: a Service, or those of a namespace. */
export interface TargetColumn {
  /** `cluster/namespace/service`, or without the last. */
  readonly name: string;
  readonly destinations: readonly ResourceRef[];
}

/** A matrix without its cells, in the order of names. */
export interface AccessAxes {
  readonly rows: readonly CallerRow[];
  readonly columns: readonly TargetColumn[];
}

/** What a cell says; MIXED: not the same for all pairs in it. */
export type CellVerdict = Verdict | "MIXED";

/** Stands for every caller that no object names. */
const NOBODY_ELSE = "-";

/** Who there is to call whom: service accounts of Workloads, and Services of Destinations. */
export function accessAxes({ snapshot }: Pick<Fleet, "snapshot">): AccessAxes {
  const rows = new Map<string, CallerRow>();
  for (const { spec } of snapshot.of(Workload)) {
    const { controller, serviceAccountName } = spec?.kubernetes ?? {};
    if (controller === undefined) continue;
    const caller = {
      clusterName: controller.clusterName ?? "",
      namespace: controller.namespace ?? "",
      serviceAccount: serviceAccountName || "default",
    };
    const name = callerName(caller);
    rows.set(name, { name, callers: [caller] });
  }
  const columns = [...snapshot.of(Destination)].flatMap((destination): readonly TargetColumn[] => {
    const { name, namespace, clusterName } = destination.spec?.kubeService?.ref ?? {};
    if (name === undefined) return [];
    return [{ name: [clusterName ?? "", namespace ?? "", name].join("/"), destinations: [refOf(destination)] }];
  });
  return { rows: [...rows.values()].sort(byName), columns: columns.sort(byName) };
}

/** The same by namespace. */
export function byNamespace({ rows, columns }: AccessAxes): AccessAxes {
  return {
    rows: grouped(rows).map(([name, group]) => ({ name, callers: group.flatMap(({ callers }) => callers) })),
    columns: grouped(columns).map(([name, group]) => ({ name, destinations: group.flatMap(({ destinations }) => destinations) })),
  };
}

/** Callers and targets of the clusters of a scope. */
export function scopedAxes({ rows, columns }: AccessAxes, scope: Scope): AccessAxes {
  const isShown = ({ name }: { readonly name: string }) => isInScope(scope, [name.slice(0, name.indexOf("/"))]);
  return { rows: rows.filter(isShown), columns: columns.filter(isShown) };
}

/** The keys of tokens that the matrix answers. */
export const MATRIX_KEYS: readonly string[] = ["from", "to", "cluster", "ns"];

/** Rows and columns that a filter names: `from` and `to` of one of them, words of either; what a negated word names is left out of both. */
export function filteredAxes({ rows, columns }: AccessAxes, { tokens, words, negatedWords = [] }: Filter): AccessAxes {
  const of = (side: "from" | "to") => (one: { readonly name: string }) => {
    const [cluster = "", ns = "", name = ""] = one.name.split("/");
    const fields = new Map([
      [side, [one.name, name, ns, `${cluster}/${ns}`]],
      ["cluster", [cluster]],
      ["ns", [ns]],
    ]);
    const own = tokens.filter(({ key }) => key === side || !["from", "to"].includes(key));
    return matchesFilter({ tokens: own, words: [], negatedWords }, { fields, text: one.name.toLowerCase() });
  };
  const isNamed = ({ name }: { readonly name: string }) => words.every((word) => name.toLowerCase().includes(word.toLowerCase()));
  const [left, right] = [rows.filter(of("from")), columns.filter(of("to"))];
  // A word is of whom it names; of either, where it names some of both.
  const [named, called] = [left.filter(isNamed), right.filter(isNamed)];
  return { rows: named.length === 0 ? left : named, columns: called.length === 0 && named.length > 0 ? right : called };
}

/** What a cell says, of at most as many pairs as anybody waits for. */
export function cellVerdict(evaluator: AccessEvaluator, { callers }: CallerRow, { destinations }: TargetColumn): CellVerdict | undefined {
  let found: CellVerdict | undefined;
  for (const destination of destinations.slice(0, MOST_OF_CELL)) {
    for (const caller of callers.slice(0, MOST_OF_CELL)) {
      const verdict = evaluator.verdict(destination, { caller })?.verdict;
      if (verdict === undefined) continue;
      if (found !== undefined && found !== verdict) return "MIXED";
      found = verdict;
    }
  }
  // What was not asked may be otherwise.
  const isCut = destinations.length > MOST_OF_CELL || callers.length > MOST_OF_CELL;
  return isCut && found !== undefined ? "MIXED" : found;
}

/** What the Destinations of a column say to callers of their own cluster that no object names. */
export function otherCallersVerdict(evaluator: AccessEvaluator, column: TargetColumn): CellVerdict | undefined {
  const [clusterName = ""] = column.name.split("/");
  return cellVerdict(evaluator, { name: "", callers: [{ clusterName, namespace: NOBODY_ELSE, serviceAccount: NOBODY_ELSE }] }, column);
}

/** The caller that a name means; undefined for another text. */
export function callerOf(name: string): AccessCaller | undefined {
  const [clusterName = "", namespace = "", serviceAccount = "", ...others] = name.split("/");
  return others.length > 0 || clusterName === "" || namespace === "" || serviceAccount === ""
    ? undefined
    : { clusterName, namespace, serviceAccount };
}

// A cell of a namespace with more is not one answer anyway.
const MOST_OF_CELL = 30;

function callerName({ clusterName, namespace, serviceAccount }: AccessCaller): string {
  return [clusterName, namespace, serviceAccount].join("/");
}

function grouped<T extends { readonly name: string }>(all: readonly T[]): readonly (readonly [string, readonly T[]])[] {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const name = one.name.split("/").slice(0, 2).join("/");
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return [...groups];
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
