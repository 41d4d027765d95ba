import type { Figures } from "./benchmarks.ts";

/** Results as lines for people: one per figure. */
export function tableOf(rows: readonly Figures[]): string {
  const cells = rows.flatMap(({ name, ...figures }) =>
    Object.entries(figures).map(([figure, value]) => [name, figure, String(value)] as const),
  );
  const widths = [0, 1].map((column) => Math.max(0, ...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map(([name, figure, value]) => `${name.padEnd(widths[0] ?? 0)}  ${figure.padEnd(widths[1] ?? 0)}  ${value}`).join("\n");
}
