import type { Fleet } from "../data/fleet.ts";
import { objectCounts } from "./objectCounts.ts";
import { isInScope, NO_SCOPE, type Scope } from "./scope.ts";

/** How many objects of a kind there are. */
export interface KindRow {
  /** `kindKeyOf` of the kind. */
  readonly key: string;
  readonly group: string;
  readonly kind: string;
  readonly reported: number;
  readonly generated: number;
  /** Of both; "" is the management cluster. */
  readonly clusters: readonly { readonly name: string; readonly count: number }[];
  /** Of the page of the kind. */
  readonly params: { readonly group: string; readonly kind: string };
}

/** All kinds of which there is an object, in the order of their names; objects are counted in the clusters of the scope, and in the management cluster. */
export function kindRows({ snapshot, generated }: Fleet, scope: Scope = NO_SCOPE): readonly KindRow[] {
  const [ofSnapshot, ofGenerated] = [objectCounts(snapshot).byKind, objectCounts(generated).byKind];
  const rows = [...new Set([...ofSnapshot.keys(), ...ofGenerated.keys()])].map((key) => {
    const [group = "", kind = ""] = key.split("/");
    const both = [countsIn(scope, ofSnapshot.get(key)), countsIn(scope, ofGenerated.get(key))] as const;
    const names = [...new Set(both.flatMap((counts) => [...counts.keys()]))].sort();
    const [reported, made] = both.map((counts) => [...counts.values()].reduce((sum, count) => sum + count, 0));
    return {
      key,
      group,
      kind,
      reported: reported ?? 0,
      generated: made ?? 0,
      clusters: names.map((name) => ({ name, count: both.reduce((sum, counts) => sum + (counts.get(name) ?? 0), 0) })),
      params: { group: group || "_", kind },
    };
  });
  return rows.sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : a.group < b.group ? -1 : 1));
}

function countsIn(scope: Scope, counts: ReadonlyMap<string, number> | undefined): ReadonlyMap<string, number> {
  return new Map([...(counts ?? [])].filter(([name]) => isInScope(scope, [name])));
}
