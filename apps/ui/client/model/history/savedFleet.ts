import type { Fleet } from "../../data/fleet.ts";

/** A fleet as a file that `meshctl snapshot serve` reads: what is reported, declared and discovered, without what follows from it. Nothing of a Secret is in a browser. */
export function savedFleet({ snapshot }: Pick<Fleet, "snapshot">): string {
  const items = [...snapshot.collections().values()].flatMap((collection) => [...collection]);
  return `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, undefined, 1)}\n`;
}
