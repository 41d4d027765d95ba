import { refOf, snapshotOf } from "@isthmus/core";
import { expect, test } from "vitest";
import { type Insight, intendedNames } from "../src/index.ts";
import { fixture } from "./fixtures.ts";

test.each(["__proto__", "constructor", "toString", "RTE9999"])("an insight of a store with code %s stays as it is", (code) => {
  const resources = fixture("RTE1002", "finds");
  const policy = resources.find(({ kind }) => kind === "TrafficPolicy");
  if (policy === undefined) throw new Error("the fixture has no policy");
  const insight: Insight = {
    code: code as Insight["code"],
    category: "RTE",
    severity: "error",
    object: refOf(policy),
    cluster: "",
    field: "spec.destinationSelector[0].kubeServiceRefs.services[0]",
    message: "m",
    remedy: { text: "r" },
  };
  const withNearMiss = intendedNames(snapshotOf(resources));
  expect(withNearMiss(insight)).toBe(insight);
  // The same of a code that has one.
  expect(withNearMiss({ ...insight, code: "RTE1002" }).nearMiss).toBe("bookinfo/reviews in cluster-1");
});
