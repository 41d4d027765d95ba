import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { simulatedCluster } from "@isthmus/simulator";
import { type ServedApi as SimulatedServer, serveCluster } from "@isthmus/simulator/restApi";
import { isNight } from "@isthmus/testing/atNight";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clock } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { type Outcome, outcomesOf, type Target } from "./simulatorServer/outcomes.ts";
import { type Scenario, titleOf } from "./simulatorServer/step.ts";
import { scenarios } from "./simulatorServer/steps/scenarios.ts";

describeReal("a simulated cluster's API server beside a real one", (components) => {
  let fleet: Fleet<"real"> | undefined;
  let simulated: SimulatedServer | undefined;
  let targets: readonly [Target, Target] | undefined;

  beforeAll(async () => {
    fleet = await startFleet(components, ["real"]);
    const { real } = fleet.servers;
    const { clusters, users } = JSON.parse(readFileSync(real.kubeconfig, "utf8")) as Kubeconfig;
    const authority = Buffer.from(clusters[0]?.cluster["certificate-authority-data"] ?? "", "base64").toString();
    // As bare as the real one: no controllers, and nobody who collects what is orphaned.
    simulated = await serveCluster({ cluster: simulatedCluster({ name: "", clock }), collects: false });
    const target = (name: string, { url, ca, token }: { readonly url: string; readonly ca: string; readonly token: string }): Target => {
      const cache = join(fleet?.directory ?? "", name);
      mkdirSync(cache, { recursive: true });
      const kubeconfig = join(cache, "kubeconfig");
      writeFileSync(kubeconfig, kubeconfigText({ url, ca, token }), { mode: 0o600 });
      return { kubectl: components.kubectl, kubeconfig, url, ca, token, cache };
    };
    targets = [target("beside", { url: real.url, ca: authority, token: users[0]?.user.token ?? "" }), target("simulated", simulated)];
  });
  afterAll(async () => {
    await simulated?.close();
    await fleet?.stop();
  });

  let equal = 0;
  let all = 0;
  scenarios.forEach((scenario, i) => {
    // All of them take two processor minutes: by day a fourth, of each part of them.
    if (!isNight && i % 4 !== 0) return;
    it(`answers alike about ${scenario.name}`, async () => {
      const compared = await comparedOutcomes(targets, scenario, `steps-${i}`);
      all += compared.length;
      equal += compared.filter(({ real, simulated: ours }) => isEqual(real, ours)).length;
      const differing = compared.filter(({ differs, real, simulated: ours }) => differs === undefined && !isEqual(real, ours));
      expect(differing).toEqual([]);
    });
  });

  describe("of all steps", () => {
    it("nineteen in twenty are equal, and there are more than four hundred, by day a hundred", () => {
      expect(all).toBeGreaterThan(isNight ? 400 : 100);
      expect(equal / all).toBeGreaterThanOrEqual(0.95);
    });
  });
});

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly "certificate-authority-data": string } }[];
  readonly users: readonly { readonly user: { readonly token: string } }[];
}

interface Compared {
  readonly title: string;
  readonly differs: string | undefined;
  readonly real: Outcome | undefined;
  readonly simulated: Outcome | undefined;
}

async function comparedOutcomes(
  targets: readonly [Target, Target] | undefined,
  scenario: Scenario,
  namespace: string,
): Promise<readonly Compared[]> {
  if (targets === undefined) throw new Error("the API servers did not start");
  const made: Scenario = { name: "", steps: [{ kubectl: ["create", "namespace", namespace] }] };
  const [real = [], simulated = []] = await Promise.all(
    targets.map(async (target) => {
      await outcomesOf(target, made, "default");
      return outcomesOf(target, scenario, namespace);
    }),
  );
  return scenario.steps.map((step, i) => ({ title: titleOf(step), differs: step.differs, real: real[i], simulated: simulated[i] }));
}

function isEqual(a: Outcome | undefined, b: Outcome | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function kubeconfigText({ url, ca, token }: { readonly url: string; readonly ca: string; readonly token: string }): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") } }],
    users: [{ name: "test", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  });
}
