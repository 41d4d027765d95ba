import { allKinds, Secret } from "@isthmus/api";
import { certificateFacts } from "@isthmus/certificates";
import { secretTexts } from "@isthmus/plane";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { expect, it } from "vitest";
import { createDemoRoot, DEMO_ROOT } from "../src/trust/proxyTrust.ts";

const DAY_MS = 86_400_000;
const NOW = Date.parse("2026-06-01T12:00:00Z");
const clock = { now: () => NOW, sleep: async () => undefined };

it("the root of the demo counts as expiring, and outlasts every demo; what is below it is valid as long", async () => {
  const [management, first] = ["", "cluster-1"].map((name) => simulatedCluster({ name, clock, kinds: allKinds() })) as [
    SimulatedCluster,
    SimulatedCluster,
  ];
  await createDemoRoot({ management, workload: [first], clock });
  const factsOf = (cluster: SimulatedCluster, ref: { readonly name: string; readonly namespace: string }, key: string) =>
    certificateFacts(secretTexts(cluster.object({ apiVersion: Secret.apiVersion, kind: Secret.kind, ...ref }) as Secret)[key] ?? "");
  const root = factsOf(management, DEMO_ROOT, "root-cert.pem");
  // As docs/certificates.md says.
  expect(root.notAfter - NOW).toBeLessThan(Math.min(60 * DAY_MS, (root.notAfter - root.notBefore) / 6));
  expect(root.notAfter - NOW).toBeGreaterThan(30 * DAY_MS);
  const authority = factsOf(first, { name: "cacerts", namespace: "istio-system" }, "ca-cert.pem");
  expect(authority.notBefore).toBeLessThan(NOW);
  expect(authority.notAfter).toBe(root.notAfter);
});
