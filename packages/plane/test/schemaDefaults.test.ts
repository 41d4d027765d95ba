import { ApiSchemaDiscovery, Settings } from "@isthmus/api";
import { type DocumentedSchema, documentedDefaults, sampled, undocumentedMembers, withDocumentedDefaults } from "@isthmus/testing";
import { describe, expect, test } from "vitest";
import { type Effects, effectsOf } from "./schemaEffects.ts";
import { exampleFor, objectSaying, specOf, USER_KINDS } from "./schemaExamples.ts";
import { renamed, withField } from "./schemaFields.ts";

describe.each([...USER_KINDS, ApiSchemaDiscovery].map((kind) => [kind.kind, kind] as const))("%s", (_, kind) => {
  test("says of each member that may be absent what its absence means", () => {
    expect(undocumentedMembers(specOf(kind) as DocumentedSchema, "spec")).toEqual([]);
  });
});

// In the worlds of schemaEffects.test.ts, where another value of each of these members shows.
describe.each(USER_KINDS.map((kind) => [kind.kind, kind] as const))("%s", (_, kind) => {
  const defaults = documentedDefaults(specOf(kind) as DocumentedSchema, "spec");

  test.each(sampled(defaults).map(({ path, value }) => [path, JSON.stringify(value), value] as const))(
    "%s: %s is the same as its absence",
    async (path, _text, value) => {
      const { given, beside } = exampleFor(kind, path);
      const absent = renamed(objectSaying(kind, given), path, undefined);
      const [written, plain] = [await effectsOf(kind, withField(absent, path, value), beside), await effectsOf(kind, absent, beside)];
      expect({ ...written, carriedOut: parsed(written) }).toEqual({ ...plain, carriedOut: parsed(plain) });
    },
  );
});

/** What is carried out; of the Settings that agents are sent, with all defaults, as agents read them. */
function parsed({ carriedOut }: Effects): unknown {
  if (carriedOut === "") return undefined;
  return JSON.parse(carriedOut, (_, value: unknown) => {
    const { kind, spec } = (value ?? {}) as { readonly kind?: unknown; readonly spec?: unknown };
    return kind === Settings.kind ? { kind, spec: withDocumentedDefaults(SETTINGS, spec ?? {}) } : value;
  });
}

const SETTINGS = specOf(Settings) as DocumentedSchema;
