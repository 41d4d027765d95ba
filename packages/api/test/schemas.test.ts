import { Ajv, type AnySchema } from "ajv";
import { expect, test } from "vitest";
import { allKinds } from "../src/index.ts";
import type { DefinedKind } from "../src/shared/defineKind.ts";

// `defineKind` compiles schemas without validating them.
const ajv = new Ajv({ strict: false, validateFormats: false });
const defined = allKinds().filter((kind): kind is DefinedKind<never> => "definition" in kind);

test.each(defined.map((kind) => [kind.kind, kind] as const))("the fields of %s are valid schemas", (_, kind) => {
  for (const [name, schema] of Object.entries(kind.definition.fields)) {
    expect(ajv.validateSchema(schema as AnySchema), `${name}: ${ajv.errorsText()}`).toBe(true);
  }
});

test("a schema that is not valid would be found, and all kinds are looked at", () => {
  expect(ajv.validateSchema({ type: "objekt" })).toBe(false);
  expect(defined).toHaveLength(allKinds().length);
});
