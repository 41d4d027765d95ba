import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { chartsWithValues, NAMESPACE, referenceValuesOf } from "../real/charts/referenceValues.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const MARK = "of the reference: templates/_referenceValues.tpl";

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The paths of a schema that are marked, without those above them. */
function markedIn({ properties = {} }: Schema, prefix = ""): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const inner = markedIn(schema, `${prefix}${name}.`);
    return inner.length > 0 || schema.description !== MARK ? inner : [`${prefix}${name}`];
  });
}

describe("values of the reference's charts that ours have not", () => {
  it("are in docs/migration-from-gloo-mesh.md as the templates say them", () => {
    const text = readFileSync(`${root}docs/migration-from-gloo-mesh.md`, "utf8");
    const rows = text.split("\n").filter((line) => line.startsWith("| `gloo-mesh-"));
    const wanted = chartsWithValues.flatMap((chart) =>
      referenceValuesOf(chart).map(({ value, accepted, instead }) => {
        const content = accepted === undefined ? "" : accepted === NAMESPACE ? "the namespace of the release" : `\`${accepted}\``;
        return `| \`${chart}\` | \`${value}\` | ${content} | ${instead} |`;
      }),
    );
    expect(wanted.length).toBeGreaterThan(30);
    expect(rows).toEqual(wanted);
  });

  it.each(chartsWithValues)("get to the templates of %s: its schema takes each, and marks no other", (chart) => {
    const schema = JSON.parse(readFileSync(`${root}deploy/helm/${chart}/values.schema.json`, "utf8")) as Schema;
    const listed = referenceValuesOf(chart).map(({ value }) => value);
    expect([...markedIn(schema)].sort()).toEqual([...listed].sort());
  });
});
