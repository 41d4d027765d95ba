import { fileURLToPath } from "node:url";
import type { AnyResource } from "@isthmus/core";
import { kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sharedPath } from "../dataplane/harness/shared.ts";
import type { Testbed } from "../dataplane/harness/testbed.ts";
import { clock, Namespace } from "../harness/clusters.ts";
import { type Judge, judgeOf } from "./dryRun.ts";
import { type Generated, ofCases, ofGoldens } from "./istioObjects.ts";

const goldens = fileURLToPath(new URL("../../../packages/translators/testdata", import.meta.url));
const referenceCases = sharedPath("reference-cases");

/** Warnings of Istio that are right and that we cause on purpose, each with the reason. */
const expectedWarnings: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  {
    pattern: /virtualService rule #\d+ (match #\d+ is )?not used \((duplicate|all matches)/,
    reason:
      "policies with different source selectors make a route each, as published; where a route never gets a request, its policy's status says so (RouteShadowed)",
  },
  {
    pattern: /EnvoyFilter exposes internal implementation details that may change/,
    reason: "Istio says it of every EnvoyFilter, and has no API of its own for what features put before workloads",
  },
];

/** What cluster-1 says of what we generate. */
export function istioValidationCases(testbed: () => Testbed): void {
  let judge: Judge | undefined;

  beforeAll(() => {
    judge = judgeOf(testbed().kubeconfig("cluster-1"));
  });
  afterAll(() => judge?.close());

  it("takes every Istio object of every golden output, without a warning", () => accepted(ofGoldens(goldens)));

  it.skipIf(referenceCases === undefined)("takes every Istio object that we make of the reference cases, without a warning", () =>
    accepted(ofCases(referenceCases ?? "")),
  );

  it("is there: it refuses what is wrong, and warns of what is doubtful", async () => {
    await createNamespaces(["bookinfo"]);
    const verdicts = await Promise.all([
      verdictOf(virtualService({ hosts: ["a.example"], http: [{ route: [{ destination: { host: "a.example" }, colour: "red" }] }] })),
      verdictOf(virtualService({ hosts: ["a.example"], http: [{}] })),
      verdictOf(virtualService({ hosts: ["a.example"], http: [route(), route()] })),
    ]);
    expect(verdicts[0].refusal).toContain("colour");
    expect(verdicts[1].refusal).toContain("HTTP route");
    expect(verdicts[2].refusal).toBeUndefined();
    expect(verdicts[2].warnings).not.toEqual([]);
  });

  async function accepted(generated: readonly Generated[]): Promise<void> {
    const all = generated.flatMap(({ source, objects }) => objects.map((object) => ({ source, object })));
    expect(all.length).toBeGreaterThan(50);
    await createNamespaces([...new Set(all.map(({ object }) => object.metadata.namespace ?? "default"))]);
    const findings = await Promise.all(
      all.map(async ({ source, object }) => {
        const { refusal, warnings } = await verdictOf(object);
        const unexpected = warnings.filter((warning) => !expectedWarnings.some(({ pattern }) => pattern.test(warning)));
        const { name, namespace } = object.metadata;
        return [...(refusal === undefined ? [] : [refusal]), ...unexpected].map(
          (text) => `${source}: ${object.kind} ${namespace}/${name}: ${text}`,
        );
      }),
    );
    expect(findings.flat()).toEqual([]);
  }

  function verdictOf(object: AnyResource) {
    if (judge === undefined) throw new Error("the cluster did not start");
    return judge.judge(object);
  }

  async function createNamespaces(names: readonly string[]): Promise<void> {
    const kubeconfig = loadKubeconfig({ path: testbed().kubeconfig("cluster-1") });
    const cluster = kubernetesCluster({ name: "cluster-1", kubeconfig, clock, random: Math.random });
    for (const name of names) {
      await cluster.apply(
        { apiVersion: Namespace.apiVersion, kind: Namespace.kind, metadata: { name } },
        { fieldManager: "test", force: true },
      );
    }
  }
}

function virtualService(spec: object): AnyResource {
  return { apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata: { name: "v", namespace: "bookinfo" }, spec };
}

function route(): object {
  return { route: [{ destination: { host: "a.example" } }] };
}
