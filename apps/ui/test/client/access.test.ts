import { snapshotOf } from "@isthmus/core";
import type { AccessEvaluator, Verdict } from "@isthmus/translators";
import { expect, it } from "vitest";
import { accessAxes, byNamespace, callerOf, cellVerdict, filteredAxes } from "../../client/access/accessMatrix.ts";
import { allowingPolicy } from "../../client/access/allowingPolicy.ts";
import { nearCallers } from "../../client/access/unknownCaller.ts";
import { emptyFleet } from "../../client/data/fleet.ts";
import { Destination, Workload } from "../../client/data/kinds.ts";
import { parseFilter } from "../../client/model/lines/tokens.ts";
import { pastedObjects } from "../../client/translation/pastedObjects.ts";

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

it("offers for a caller that there is not those that there are, the likeliest first", () => {
  expect(nearCallers(axes, "c1/shop/wep", 8)).toEqual(["c1/shop/web", "c1/batch/default"]);
  expect(nearCallers(axes, "c1/batch/xyzxyzxyzxyzxyzxyz", 8)[0]).toBe("c1/batch/default");
  expect(nearCallers(axes, "c9/none/other", 1)).toHaveLength(1);
});

it("writes the policy that would allow a request, with all that the question restricts", () => {
  const caller = { clusterName: "c1", namespace: "shop", serviceAccount: "web" };
  const service = { clusterName: "c2", namespace: "batch", name: "queue" };
  const { objects, problems } = pastedObjects(allowingPolicy({ caller, method: "GET", path: "/info", port: 9080 }, service));
  expect(problems).toEqual([]);
  expect(objects).toMatchObject([
    {
      kind: "AccessPolicy",
      metadata: { name: "allow-web-to-queue", namespace: "gloo-mesh" },
      spec: {
        sourceSelector: [{ kubeServiceAccountRefs: { serviceAccounts: [{ name: "web", namespace: "shop", clusterName: "c1" }] } }],
        destinationSelector: [{ kubeServiceRefs: { services: [{ name: "queue", namespace: "batch", clusterName: "c2" }] } }],
        allowedMethods: ["GET"],
        allowedPaths: ["/info"],
        allowedPorts: [9080],
      },
    },
  ]);
  expect(allowingPolicy({ caller }, service)).not.toContain("allowed");
});
