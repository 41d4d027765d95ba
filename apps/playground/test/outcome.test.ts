import { ServiceEntry } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { simulatedCluster, virtualClock } from "@isthmus/simulator";
import { expect, test } from "vitest";
import { federationTable } from "../src/outcome.ts";

const HOST = "istio-ingressgateway.istio-system.svc.cluster-1.global";

test("the table of hosts fits into a terminal of 80 columns, without addresses", async () => {
  const cluster = simulatedCluster({ name: "cluster-2", clock: virtualClock(), kinds: [ServiceEntry] });
  cluster.load([
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } },
    {
      apiVersion: ServiceEntry.apiVersion,
      kind: ServiceEntry.kind,
      metadata: { name: HOST, namespace: "istio-system" },
      spec: { hosts: [HOST], addresses: ["249.188.159.210"], endpoints: [{ address: "172.19.63.10", ports: { http: 15443 } }] },
    } as AnyResource,
  ]);
  const narrow = (await federationTable([cluster], 80)).split("\n");
  expect(narrow.join("\n")).toContain(HOST);
  for (const line of narrow) expect(line.length).toBeLessThanOrEqual(80);

  const wide = await federationTable([cluster]);
  expect(wide).toContain("249.188.159.210");
  const width = Math.max(...wide.split("\n").map(({ length }) => length));
  expect(await federationTable([cluster], width)).toBe(wide);
  expect(await federationTable([cluster], width - 1)).not.toBe(wide);
});
