import type { Resource } from "@isthmus/core";
import type { Cell } from "../../output/boxedTable.ts";
import type { KindName } from "../kinds.ts";

/** How objects of a kind are described: a table with a row for each. */
export interface Description<R extends Resource> {
  readonly kind: KindName;
  readonly headers: readonly string[];
  cells(resource: R): readonly Cell[];
}
