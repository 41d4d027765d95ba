import type { Resource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import type { Io } from "../../io.ts";
import { boxedTable } from "../../output/boxedTable.ts";
import { type KindName, kindsNamed } from "../kinds.ts";
import { noteMalformed } from "../printKinds.ts";
import { objectsText } from "../printObjects.ts";
import { requireNamed, selectedObjects, withNames } from "../selectedObjects.ts";
import type { Description } from "./description.ts";
import { destinationDescription, meshDescription, workloadDescription } from "./discovered.ts";
import { accessPolicyDescription, trafficPolicyDescription, virtualDestinationDescription, virtualMeshDescription } from "./policies.ts";

const DESCRIPTIONS: readonly Description<never>[] = [
  meshDescription,
  workloadDescription,
  destinationDescription,
  virtualMeshDescription,
  virtualDestinationDescription,
  trafficPolicyDescription,
  accessPolicyDescription,
];

interface Describing {
  readonly io: Io;
  readonly cluster: Cluster;
  readonly kinds: readonly KindName[];
  /** `name`, or `namespace/name`; none: all. */
  readonly names: readonly string[];
  /** Parts of names, of which one must occur; none: all. */
  readonly search: readonly string[];
  /** `json` and `yaml`: the objects themselves. */
  readonly format: "table" | "json" | "yaml";
  readonly now: number;
}

/**
 * Prints a table of the objects of each kind, as the published `meshctl describe` does: all namespaces, and an empty line after it. Of several kinds
 * those without objects have no table.
 */
export async function printDescription({ io, cluster, kinds, names, search, format, now }: Describing, signal: AbortSignal): Promise<void> {
  const isSearched = ({ metadata: { name } }: Resource): boolean => search.length === 0 || search.some((term) => name.includes(term));
  const known = [];
  const found = [];
  for (const kind of await kindsNamed(kinds)) {
    const all = await selectedObjects(cluster, kind, {}, signal);
    noteMalformed(io, all);
    known.push(all);
    found.push({ kind, items: withNames(all.items, names).filter(isSearched) });
  }
  if (format !== "table") await io.out(objectsText(found, { format, now }));
  else {
    // Of names alone that are not there nothing is shown but the error.
    const tables = found.filter(({ items }) => items.length > 0 || (kinds.length === 1 && names.length === 0));
    for (const { kind, items } of tables) {
      const { headers, cells } = DESCRIPTIONS.find((one) => one.kind === kind.kind) as Description<Resource>;
      await io.out(`${boxedTable(headers, items.map(cells), io.columns)}\n`);
    }
    if (tables.length === 0 && names.length === 0) io.note("No resources found.\n");
  }
  requireNamed(names, known);
}
