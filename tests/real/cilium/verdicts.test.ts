import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AuthorizationPolicy } from "@isthmus/api";
import { type AnyResource, type Resource, snapshotOf } from "@isthmus/core";
import { readDocuments, soundTranslation } from "@isthmus/testing";

import fc from "fast-check";
import { expect, it } from "vitest";
import { describeReal } from "../harness/describeReal.ts";
import { type CiliumPod, type CiliumWorld, ciliumJudgements } from "./engine.ts";
import { type AccessWorld, accessWorlds, admitsByIdentity, CALLED, callersIn, PORTS } from "./randomCases.ts";

const goldens = fileURLToPath(new URL("../../../packages/translators/testdata/cilium", import.meta.url));
const WORLDS = 300;

describeReal("the policy engine of Cilium", (components) => {
  it("takes every policy of the golden outputs, which select pods, and never keep the host out", () => {
    const worlds = generated().map((policy): CiliumWorld => {
      const { spec } = policy as unknown as { readonly spec: { readonly endpointSelector: { readonly matchLabels: Labels } } };
      const labels = Object.entries(spec.endpointSelector.matchLabels).map(([key, value]) => [key.replace(/^k8s:/, ""), value]);
      const pods: CiliumPod[] = [
        { name: "called", namespace: policy.metadata.namespace ?? "", labels: Object.fromEntries(labels) },
        { name: "other", namespace: policy.metadata.namespace ?? "", labels: { app: "other" } },
        { name: "host", reserved: "host" },
      ];
      return { clusterName: "prod-a", policies: [policy], pods, ports: [8080] };
    });
    expect(worlds.length).toBeGreaterThan(15);
    const judgements = ciliumJudgements(components, worlds);
    expect(judgements.flatMap(({ refused }) => Object.entries(refused))).toEqual([]);
    for (const { selected, admitted } of judgements) {
      expect(Object.values(selected)).toEqual([["called"]]);
      expect(admitted).toContain("host called 8080");
      // No policy selects it.
      expect(admitted).toContain("called other 8080");
    }
  });

  it("lets in those whom the mesh lets in by identity and port, and of the own cluster nobody else", { timeout: 300_000 }, () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const worlds = fc.sample(accessWorlds(), { numRuns: WORLDS, seed });
    const outputs = worlds.map(({ resources }) =>
      [
        ...soundTranslation(snapshotOf(resources), { namespace: "gloo-mesh", ages: "CREATED", stage: "networking" }).networking.entries(),
      ].map(([, { resource }]) => resource),
    );
    const written = outputs.map((all) => ofKind(all, "CiliumNetworkPolicy"));
    const judgements = ciliumJudgements(
      components,
      worlds.map((world, i) => ({ clusterName: "prod-a", policies: written[i] ?? [], pods: podsOf(world), ports: PORTS })),
    );
    let [letIn, keptOut] = [0, 0];
    worlds.forEach((world, i) => {
      const where = `world ${i} of seed ${seed}: ${JSON.stringify(world.resources)}`;
      const judgement = judgements[i];
      expect(judgement?.refused, where).toEqual({});
      const admitted = new Set(judgement?.admitted);
      const ofMesh = ofKind(outputs[i] ?? [], "AuthorizationPolicy") as readonly AuthorizationPolicy[];
      for (const called of CALLED) {
        const policy = ofMesh.find(({ metadata }) => metadata.name === called);
        const isSelected = written[i]?.some(({ metadata }) => metadata.name === `accesspolicy-${called}`) === true;
        for (const caller of callersIn(world)) {
          for (const port of PORTS) {
            const isLetIn = admitted.has(`${caller.pod.name} ${called} ${port}`);
            const byMesh = policy === undefined || admitsByIdentity(policy, caller.identity, port);
            if (byMesh || !isSelected) expect(isLetIn, `${caller.pod.name} → ${called}:${port}, ${where}`).toBe(true);
            else if (caller.isExact) expect(isLetIn, `${caller.pod.name} → ${called}:${port}, ${where}`).toBe(false);
            if (isSelected && isLetIn) letIn += 1;
            if (!isLetIn) keptOut += 1;
          }
        }
      }
    });
    // Else it would have shown nothing.
    expect([letIn > WORLDS, keptOut > WORLDS]).toEqual([true, true]);
  });
});

type Labels = Readonly<Record<string, string>>;

function podsOf(world: AccessWorld): readonly CiliumPod[] {
  return [
    ...CALLED.map((name): CiliumPod => ({ name, namespace: "shop", labels: { app: name } })),
    ...callersIn(world).map(({ pod }) => pod),
  ];
}

function ofKind(resources: readonly Resource[], kind: string): readonly Resource[] {
  return resources.filter((one) => one.kind === kind && one.metadata.clusterName === "a");
}

function generated(): readonly AnyResource[] {
  const files = readdirSync(goldens).filter((file) => file.endsWith(".out.yaml"));
  const objects = files.flatMap((file) => readDocuments(readFileSync(join(goldens, file), "utf8")) as readonly AnyResource[]);
  return objects.filter((object) => object.kind === "CiliumNetworkPolicy" && "spec" in object);
}
