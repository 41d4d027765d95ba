import { CiliumNetworkPolicy } from "@isthmus/api";
import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fixture, insightsAbout } from "./fixtures.ts";

// Rules read members of what is carried as users, or an agent that is not ours, wrote it: it must stop nobody.
const part = fc.oneof({ weight: 2, arbitrary: fc.jsonValue() }, { weight: 1, arbitrary: fc.constantFrom(null, [null], [[]], {}, "a", 0) });
const written = fc.record(
  {
    endpointSelector: fc.oneof(
      part,
      fc.record({ matchLabels: part, matchExpressions: fc.oneof(part, fc.array(fc.record({ key: part, operator: part, values: part }))) }),
    ),
    ingress: fc.oneof(part, fc.array(fc.oneof(part, fc.record({ toPorts: fc.oneof(part, fc.array(fc.record({ ports: part }))) })))),
  },
  { requiredKeys: [] },
);

test("a CiliumNetworkPolicy may say anything", () => {
  const others = fixture("SEC1012", "finds");
  fc.assert(
    fc.property(written, (spec) => {
      const resources = others.map((object) =>
        object.kind === CiliumNetworkPolicy.kind ? CiliumNetworkPolicy.parse({ ...object, spec }) : object,
      );
      expect(insightsAbout(resources).all).toBeInstanceOf(Array);
    }),
    { numRuns: runs(400) },
  );
});
