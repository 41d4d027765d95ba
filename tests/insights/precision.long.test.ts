import { readFileSync } from "node:fs";
import { formatRef } from "@isthmus/core";
import { withoutMaterial } from "@isthmus/testing";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { foundIn, shown } from "./found.ts";
import { demoInputs, goldenInputs, type Input, referenceInputs, testbedInputs } from "./inputs.ts";

/** Insights of one code that are right. */
interface Justified {
  readonly code: string;
  readonly reason: string;
  /** Objects by the name of the input. */
  readonly found: Readonly<Record<string, readonly string[]>>;
}

const shared = process.env["ISTHMUS_SHARED"] ?? "../shared";
const justified = parse(readFileSync(new URL("justified.yaml", import.meta.url), "utf8")) as readonly Justified[];

/** The inputs of one kind, by the first part of their names. */
const SOURCES: readonly { readonly of: string; readonly inputs: () => Promise<readonly Input[]>; readonly isShared?: true }[] = [
  { of: "demo", inputs: demoInputs },
  { of: "golden", inputs: async () => goldenInputs() },
  { of: "reference", inputs: async () => referenceInputs(shared), isShared: true },
  { of: "testbed", inputs: async () => testbedInputs(shared), isShared: true },
];

test("each entry of justified.yaml has a code, a reason, and inputs that exist", () => {
  const known = SOURCES.map(({ of }) => of);
  for (const { code, reason, found, ...others } of justified) {
    expect(others).toEqual({});
    expect(code).toMatch(/^[A-Z]+\d{4}$/);
    expect(reason.length).toBeGreaterThan(20);
    for (const input of Object.keys(found)) expect(known).toContain(input.split("/", 1)[0]);
  }
});

describe.each(SOURCES)("what is found in $of", async ({ of, inputs, isShared }) => {
  const all = await inputs();
  if (all.length === 0 && isShared === true) return withoutMaterial(`there is nothing of ${of} in ${shared}, which ISTHMUS_SHARED names`);
  const entries = justified.flatMap(({ code, found }) =>
    Object.entries(found).flatMap(([input, objects]) =>
      input.startsWith(`${of}/`) ? objects.map((object) => ({ code, input, object })) : [],
    ),
  );

  test("is justified, and what is justified is found", () => {
    const used = new Set<object>();
    const unjustified = all.flatMap((input) =>
      foundIn(input).flatMap(({ insight, isReported }) => {
        // Golden files list what translation says.
        if (isReported && input.reports?.some((text) => text.endsWith(insight.message)) === true) return [];
        const named = formatRef(insight.object);
        const entry = entries.find(({ code, input: name, object }) => code === insight.code && name === input.name && object === named);
        if (entry === undefined) return [`${input.name}: ${shown(insight)}`];
        used.add(entry);
        return [];
      }),
    );
    expect(unjustified).toEqual([]);
    expect(entries.filter((entry) => !used.has(entry)).map(({ code, input, object }) => `${input}: ${code} ${object}`)).toEqual([]);
  });
});
