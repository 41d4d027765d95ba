import { snapshotOf } from "@isthmus/core";
import type { AccessEvaluator, Verdict } from "@isthmus/translators";
import { expect, it } from "vitest";
import { accessAxes, byNamespace, callerOf, cellVerdict, filteredAxes } from "../../client/access/accessMatrix.ts";
import { emptyFleet } from "../../client/data/fleet.ts";
import { Destination, Workload } from "../../client/data/kinds.ts";
import { parseFilter } from "../../client/model/tokens.ts";

const workload = (name: string, namespace: string, serviceAccountName: string): Workload => ({
  apiVersion: Workload.apiVersion,
  kind: Workload.kind,
  metadata: { name: `${name}-${namespace}`, namespace: "gloo-mesh" },
  spec: { kubernetes: { controller: { name, namespace, clusterName: "c1" }, serviceAccountName } },
});
const destination = (name: string, namespace: string): Destination => ({
  apiVersion: Destination.apiVersion,
  kind: Destination.kind,
  metadata: { name: `${name}-${namespace}`, namespace: "gloo-mesh" },
  spec: { kubeService: { ref: { name, namespace, clusterName: "c1" } } },
});
const axes = accessAxes({
  ...emptyFleet(),
  snapshot: snapshotOf([
    workload("web-1", "shop", "web"),
    workload("web-2", "shop", "web"),
    workload("job", "batch", ""),
    destination("cart", "shop"),
    destination("pay", "shop"),
    destination("queue", "batch"),
  ]),
});
const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name);
const shown = (filter: string) => {
  const { rows, columns } = filteredAxes(axes, parseFilter(filter));
  return [names(rows), names(columns)];
};

it("has each service account and each Service once", () => {
  expect(names(axes.rows)).toEqual(["c1/batch/default", "c1/shop/web"]);
  expect(names(axes.columns)).toEqual(["c1/batch/queue", "c1/shop/cart", "c1/shop/pay"]);
  expect(names(byNamespace(axes).columns)).toEqual(["c1/batch", "c1/shop"]);
});

it("is filtered by either side", () => {
  expect(shown("from:web")).toEqual([["c1/shop/web"], ["c1/batch/queue", "c1/shop/cart", "c1/shop/pay"]]);
  expect(shown("from:batch to:c1/shop")).toEqual([["c1/batch/default"], ["c1/shop/cart", "c1/shop/pay"]]);
  expect(shown("ns:batch")).toEqual([["c1/batch/default"], ["c1/batch/queue"]]);
  expect(shown("pay")).toEqual([["c1/batch/default", "c1/shop/web"], ["c1/shop/pay"]]);
  expect(shown("cluster:c9")).toEqual([[], []]);
  expect(shown("xyz")[1]).toEqual([]);
});

it("says of a cell what is the same for all pairs in it, and else that it differs", () => {
  const evaluator: AccessEvaluator = {
    verdict: ({ name }, { caller }) => {
      if (name.startsWith("queue")) return undefined;
      const verdict: Verdict = name.startsWith("cart") && caller.serviceAccount === "web" ? "ALLOWED" : "DENIED";
      return { verdict, at: "ALLOW", objects: [], policies: [], hasIdentity: true };
    },
  };
  const { rows, columns } = byNamespace(axes);
  const cells = rows.map((row) => columns.map((column) => cellVerdict(evaluator, row, column)));
  expect(cells).toEqual([
    [undefined, "DENIED"],
    [undefined, "MIXED"],
  ]);
});

it("reads callers by name, and nothing else", () => {
  expect(callerOf("c1/shop/web")).toEqual({ clusterName: "c1", namespace: "shop", serviceAccount: "web" });
  for (const text of ["", "c1", "c1/shop", "c1/shop/", "/shop/web", "c1/shop/web/more"]) expect(callerOf(text)).toBeUndefined();
});
