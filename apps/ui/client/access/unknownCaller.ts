import { nearestName } from "@isthmus/core";
import type { AccessAxes } from "./accessMatrix.ts";

/** Callers that there are, for one that there is not: the one of nearly the same name first, then those of its namespace, of its cluster, and others. */
export function nearCallers({ rows }: AccessAxes, name: string, most: number): readonly string[] {
  const names = rows.map((row) => row.name);
  const [cluster = "", namespace = ""] = name.split("/");
  const nearest = nearestName(name, names);
  const distance = (other: string): number => {
    if (other === nearest) return 0;
    if (other.startsWith(`${cluster}/${namespace}/`)) return 1;
    return other.startsWith(`${cluster}/`) ? 2 : 3;
  };
  return [...names].sort((a, b) => distance(a) - distance(b) || (a < b ? -1 : 1)).slice(0, most);
}
