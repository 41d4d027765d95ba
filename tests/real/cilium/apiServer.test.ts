import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AnyResource } from "@isthmus/core";
import { readDocuments } from "@isthmus/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import { namespace } from "../harness/istioInstallation.ts";
import { applyAll, installCrds } from "../harness/manifests.ts";
import { type Judge, judgeOf } from "../istioValidation/dryRun.ts";
import { ciliumCrds } from "./engine.ts";

const goldens = fileURLToPath(new URL("../../../packages/translators/testdata/cilium", import.meta.url));

// The schemas of Cilium's own CRDs, with strict field validation by a real API server.
describeReal("the API server of a cluster with Cilium", (components) => {
  let fleet: Fleet<"cluster-1"> | undefined;
  let judge: Judge | undefined;

  beforeAll(async () => {
    fleet = await startFleet(components, ["cluster-1"]);
    const { "cluster-1": server } = fleet.servers;
    const cluster = clusterOf(server, "cluster-1");
    await installCrds(cluster, ciliumCrds(components));
    const names = new Set(generated().map(({ metadata }) => metadata.namespace ?? "default"));
    await applyAll(
      cluster,
      [...names].map((name) => namespace(name)),
    );
    judge = judgeOf(server.kubeconfig);
  });
  afterAll(async () => {
    judge?.close();
    await fleet?.stop();
  });

  it("takes every policy of the golden outputs", async () => {
    const policies = generated();
    expect(policies.length).toBeGreaterThan(15);
    const refusals = await Promise.all(policies.map(async (policy) => (await judge?.judge(policy))?.refusal));
    expect(refusals.filter((refusal) => refusal !== undefined)).toEqual([]);
  });

  it("refuses ports that are numbers, and more than forty in one entry", async () => {
    const [policy] = generated();
    const judged = async (ports: readonly object[]) => {
      const spec = { endpointSelector: {}, ingress: [{ toPorts: [{ ports }] }] };
      return (await judge?.judge({ ...policy, spec } as AnyResource))?.refusal ?? "";
    };
    expect(await judged([{ port: 8080, protocol: "TCP" }])).toContain("port");
    const many = Array.from({ length: 41 }, (_, i) => ({ port: String(8000 + i), protocol: "TCP" }));
    expect(await judged(many)).toContain("40");
    expect(await judged(many.slice(1))).toBe("");
  });
});

function generated(): readonly AnyResource[] {
  const files = readdirSync(goldens).filter((file) => file.endsWith(".out.yaml"));
  const objects = files.flatMap((file) => readDocuments(readFileSync(join(goldens, file), "utf8")) as readonly AnyResource[]);
  return objects.filter((object) => object.kind === "CiliumNetworkPolicy" && "spec" in object);
}
