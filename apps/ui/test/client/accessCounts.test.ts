import { runToCompletion } from "@isthmus/core";
import type { AccessEvaluator, Verdict } from "@isthmus/translators";
import { expect, it } from "vitest";
import { callersOf, callsOf, closedTargets } from "../../client/access/accessCounts.ts";
import type { AccessAxes, CallerRow, TargetColumn } from "../../client/access/accessMatrix.ts";

const row = (name: string): CallerRow => ({ name, callers: [{ clusterName: "c1", namespace: "shop", serviceAccount: name }] });
const column = (name: string): TargetColumn => ({
  name: `c1/shop/${name}`,
  destinations: [{ apiVersion: "discovery.mesh.gloo.solo.io/v1", kind: "Destination", name, namespace: "gloo-mesh", clusterName: "" }],
});
const axes: AccessAxes = {
  rows: ["web", "job"].map(row),
  columns: ["open", "closed", "one", "partly", "unsure", "far", "other"].map(column),
};

/** By service and caller; "-" is a caller that nobody names. */
const VERDICTS: Readonly<Record<string, Readonly<Record<string, Verdict>>>> = {
  open: { "-": "ALLOWED", web: "ALLOWED", job: "ALLOWED" },
  closed: { "-": "DENIED", web: "DENIED", job: "UNREACHABLE" },
  one: { "-": "DENIED", web: "DENIED", job: "ALLOWED" },
  partly: { "-": "DENIED", web: "RESTRICTED", job: "DENIED" },
  unsure: { "-": "DENIED", web: "DENIED", job: "UNKNOWN" },
  far: { "-": "UNREACHABLE", web: "UNREACHABLE", job: "DENIED" },
};
let asked = 0;
const evaluator = {
  verdict: ({ name }, { caller }) => {
    asked++;
    const verdict = VERDICTS[name]?.[caller.serviceAccount];
    return verdict === undefined ? undefined : { verdict };
  },
} as AccessEvaluator;

it("names services that nobody may call: not those of which something is not known, or depends", () => {
  expect(runToCompletion(closedTargets(evaluator, axes))).toEqual({ closed: ["c1/shop/closed"], known: 6, unasked: 0 });
});

it("asks about no more than there is time for, and says of how many services it did not", () => {
  asked = 0;
  const rows = Array.from({ length: 30 }, () => row("web"));
  const columns = Array.from({ length: 10 }, () => column("closed"));
  const found = runToCompletion(closedTargets(evaluator, { rows, columns }, 100));
  expect(found.closed.length).toBe(3);
  expect(found).toMatchObject({ known: 3, unasked: 7 });
  expect(asked).toBeLessThanOrEqual(100);
});

it("groups what a caller may call, and who may call a service, by what is said of them", () => {
  const calls = runToCompletion(callsOf(evaluator, row("web"), axes.columns));
  expect(Object.fromEntries(calls.groups)).toEqual({
    ALLOWED: ["c1/shop/open"],
    DENIED: ["c1/shop/closed", "c1/shop/one", "c1/shop/unsure"],
    RESTRICTED: ["c1/shop/partly"],
    UNREACHABLE: ["c1/shop/far"],
  });
  expect(calls).toMatchObject({ known: 6, unasked: 0 });
  expect(Object.fromEntries(runToCompletion(callersOf(evaluator, column("one"), axes.rows)).groups)).toEqual({
    DENIED: ["web"],
    ALLOWED: ["job"],
  });
  expect(runToCompletion(callersOf(evaluator, column("other"), axes.rows)).known).toBe(0);
});
