import { sampled } from "@isthmus/testing";
import { describe, expect, test } from "vitest";
import { effectsOf } from "./schemaEffects.ts";
import { exampleFor, fieldsOf, objectSaying, USER_KINDS } from "./schemaExamples.ts";
import { concretePath, exampleOf, withField, withParents } from "./schemaFields.ts";

describe.each(USER_KINDS.map((kind) => [kind.kind, kind] as const))("%s", (_, kind) => {
  test.each(sampled(fieldsOf(kind)).map((field) => [field.path, field] as const))(
    "%s has an effect, or its writer is reported",
    async (path, { schema }) => {
      const { given, beside, value = exampleOf(schema), isSilent, isAnsweredWhole = false } = exampleFor(kind, path);
      const object = objectSaying(kind, given);
      // What the field stands in is there with and without it, so that it is the field itself that shows.
      const before = await effectsOf(kind, isAnsweredWhole ? object : withParents(object, path), beside);
      const after = await effectsOf(kind, withField(object, path, value), beside);
      const isCarriedOut = after.carriedOut !== before.carriedOut;
      const isTold = after.told.some((message) => !before.told.includes(message) && isAbout(message, path));
      expect({ isCarriedOut, isTold, told: after.told }, isSilent).toEqual(
        isSilent === undefined
          ? expect.toSatisfy((found: typeof OUTCOME) => found.isCarriedOut || found.isTold)
          : { isCarriedOut: false, isTold: false, told: after.told },
      );
    },
  );
});

/** Whether a message names a field, or what it stands in. */
function isAbout(message: string, path: string): boolean {
  const steps = concretePath(path).split(/(?=[.[])/);
  const paths = steps.map((_, i) => steps.slice(0, i + 1).join("")).slice(1);
  return paths.some((part) => message.includes(`${part}:`) || message.includes(`${part},`) || message.includes(`${part} `));
}

const OUTCOME = { isCarriedOut: true, isTold: true };
