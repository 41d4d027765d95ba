import type { SourceTree } from "../../../tools/sourceTree.ts";
import { mutantsOf } from "./generate.ts";
import { type Mutant, named } from "./mutant.ts";

/** A mutant by the name under which a reason for it is listed. */
export interface NamedMutant {
  readonly name: string;
  readonly mutant: Mutant;
}

const PLACES =
  /^packages\/(plane\/src\/(apply|identity|informer|leader|replication|runtime|server|snapshots|agent)|relay\/src\/session|store\/src)\/.*\.ts$/;

/** Every mutant of the loops, the relay's sessions and the stores, in the order of paths and lines. */
export function mutantsIn(tree: SourceTree): readonly NamedMutant[] {
  const sources = [...tree].filter(([path]) => PLACES.test(path) && !path.endsWith(".test.ts"));
  sources.sort(([a], [b]) => (a < b ? -1 : 1));
  return sources.flatMap(([path, text]) => [...named(mutantsOf(path, text), text)].map(([name, mutant]) => ({ name, mutant })));
}
