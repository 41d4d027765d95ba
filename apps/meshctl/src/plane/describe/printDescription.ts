import type { Kind, Resource } from "@isthmus/core";
import type { Cluster } from "@isthmus/plane/ports";
import type { Io } from "../../io.ts";
import { boxedTable } from "../../output/boxedTable.ts";
import { type KindName, kindsNamed } from "../kinds.ts";
import { noteMalformed } from "../printKinds.ts";
import { requireNamed, selectedObjects, withNames } from "../selectedObjects.ts";
import type { Description } from "./description.ts";
import { destinationDescription, meshDescription, workloadDescription } from "./discovered.ts";
import { accessPolicyDescription, trafficPolicyDescription, virtualMeshDescription } from "./policies.ts";

const DESCRIPTIONS: readonly Description<never>[] = [
  meshDescription,
  workloadDescription,
  destinationDescription,
  virtualMeshDescription,
  trafficPolicyDescription,
  accessPolicyDescription,
];

interface Describing {
  readonly io: Io;
  readonly cluster: Cluster;
  readonly kind: KindName;
  /** `name`, or `namespace/name`; none: all. */
  readonly names: readonly string[];
  /** Parts of names, of which one must occur; none: all. */
  readonly search: readonly string[];
}

/** Prints a table of the objects of a kind, as the published `meshctl describe` does: all namespaces, and an empty line after it. */
export async function printDescription({ io, cluster, kind, names, search }: Describing, signal: AbortSignal): Promise<void> {
  const description = DESCRIPTIONS.find((one) => one.kind === kind) as Description<Resource>;
  const [read] = (await kindsNamed([kind])) as readonly Kind[];
  if (read === undefined) return;
  const known = await selectedObjects(cluster, read, {}, signal);
  noteMalformed(io, known);
  const isSearched = ({ metadata: { name } }: Resource): boolean => search.length === 0 || search.some((term) => name.includes(term));
  const rows = withNames(known.items, names).filter(isSearched).map(description.cells);
  await io.out(`${boxedTable(description.headers, rows, io.columns)}\n`);
  requireNamed(names, [known]);
}
