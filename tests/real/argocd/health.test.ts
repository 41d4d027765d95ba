import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { allKinds, userStatusKinds } from "@isthmus/api";
import { Environment } from "@marcbachmann/cel-js";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { describeReal } from "../harness/describeReal.ts";

const file = (path: string): string => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), "utf8");

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

const condition = (type: string, status: string, reason: string): Condition => ({ type, status, reason });
const ACCEPTED = condition("Accepted", "True", "Accepted");
const applied = (status: string, reason: string): readonly Condition[] => [ACCEPTED, condition("Applied", status, reason)];

function policy(conditions: readonly Condition[] | undefined, { generation = 2, observedGeneration = 2 } = {}): object {
  return {
    metadata: { name: "p", generation },
    ...(conditions === undefined
      ? {}
      : { status: { observedGeneration, conditions: conditions.map((one) => ({ ...one, message: "words" })) } }),
  };
}

// What docs/reference/conditions.md says of each reason, as Argo CD and Flux see it. Flux has no word for what waits on purpose.
const POLICIES: readonly (readonly [string, object, string, "current" | "failed" | "in progress"])[] = [
  ["not seen yet", policy(undefined), "Progressing", "in progress"],
  ["an earlier generation", policy(applied("True", "Applied"), { generation: 3 }), "Progressing", "in progress"],
  ["nothing said yet", policy([]), "Progressing", "in progress"],
  ["invalid", policy([condition("Accepted", "False", "Malformed"), condition("Applied", "False", "Refused")]), "Degraded", "failed"],
  ["not applied yet", policy(applied("False", "Pending")), "Progressing", "in progress"],
  ["unknown since a restart", policy(applied("Unknown", "NotHeard")), "Progressing", "in progress"],
  ["selects nothing", policy(applied("False", "NoTargets")), "Degraded", "failed"],
  ["refused by a cluster", policy(applied("False", "WriteFailed")), "Degraded", "failed"],
  ["carried out in part", policy(applied("False", "NotCarriedOut")), "Degraded", "failed"],
  ["in an observed cluster", policy(applied("False", "Observed")), "Suspended", "in progress"],
  ["in a frozen cluster", policy(applied("False", "Frozen")), "Suspended", "in progress"],
  ["applied", policy(applied("True", "Applied")), "Healthy", "current"],
  ["Settings, which nothing applies", policy([ACCEPTED]), "Healthy", "current"],
  [
    "on the way to a root",
    policy([...applied("True", "Applied"), condition("TrustInForce", "False", "RootChanging")]),
    "Progressing",
    "in progress",
  ],
  ["left at its own root", policy([...applied("True", "Applied"), condition("TrustInForce", "False", "Failed")]), "Degraded", "failed"],
];

describeReal("the health of our kinds in Argo CD", (components) => {
  const map = parse(file("deploy/argocd/argocd-cm.yaml")) as { readonly data: Readonly<Record<string, string>> };
  const customizations = parse(map.data["resource.customizations"] ?? "") as Readonly<Record<string, { readonly "health.lua": string }>>;

  function healthOf(key: string, objects: readonly object[]): readonly { readonly status: string; readonly message: string }[] {
    const script = customizations[key]?.["health.lua"] ?? expect.unreachable(`no script for ${key}`);
    return JSON.parse(execFileSync(components.argocdHealth, { input: JSON.stringify({ script, objects }), encoding: "utf8" }));
  }

  it.each(POLICIES)("a policy: %s", (_, object, status) => {
    const [health] = healthOf("*.mesh.gloo.solo.io/*", [object]);
    expect(health).toEqual({ status, message: expect.stringMatching(/./) });
  });

  it("a registered cluster, in each of its states", () => {
    const states = ["CONNECTED", "SYNCING", "LAGGING", "OFFLINE", "REVOKED", "UNREACHABLE", "REGISTERED"];
    const conditions = [{ type: "Connected", status: "False", reason: "Offline", message: "no agent" }];
    const objects = [{ metadata: {} }, ...states.map((state) => ({ metadata: {}, status: { state, conditions } }))];
    expect(healthOf("multicluster.solo.io/KubernetesCluster", objects).map(({ status }) => status)).toEqual([
      ...["Progressing", "Healthy", "Progressing", "Progressing", "Degraded", "Suspended", "Degraded", "Progressing"],
    ]);
    expect(healthOf("multicluster.solo.io/KubernetesCluster", objects.slice(-1))[0]?.message).toBe("REGISTERED: no agent");
  });

  it("covers each kind with a status that users write", () => {
    const patterns = Object.keys(customizations).map((key) => new RegExp(`^${key.replaceAll(".", "\\.").replaceAll("*", ".*")}$`));
    const named = [...userStatusKinds(), ...allKinds().filter(({ kind }) => kind === "KubernetesCluster")];
    for (const { apiVersion, kind } of named) {
      const key = `${apiVersion.split("/")[0]}/${kind}`;
      expect(patterns.filter((pattern) => pattern.test(key)).length, key).toBe(1);
    }
  });
});

/** The block of docs/operations/pipelines.md with the expressions for Flux. */
function fluxExpressions(): readonly { readonly kind: string; readonly current: string; readonly failed: string }[] {
  const blocks = [...file("docs/operations/pipelines.md").matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  const block = blocks.find((text) => text.includes("healthCheckExprs")) ?? expect.unreachable("no block with healthCheckExprs");
  return parse(block).spec.healthCheckExprs;
}

it.each(POLICIES)("the expressions for Flux, of a policy: %s", (_, object, __, state) => {
  const environment = new Environment({ unlistedVariablesAreDyn: true });
  for (const { kind, current, failed } of fluxExpressions()) {
    const { status = {}, metadata } = object as { status?: { observedGeneration?: number }; metadata: { generation: number } };
    // Flux looks at the generation before it asks an expression. Source: fluxcd/pkg, runtime/cel/status_evaluator.go.
    if (status.observedGeneration !== undefined && status.observedGeneration < metadata.generation) return;
    const holds = (expression: string): boolean => {
      try {
        return environment.evaluate(expression, { status, metadata }) === true;
      } catch {
        // As of a status without conditions: in progress.
        return false;
      }
    };
    const found = holds(failed) ? "failed" : holds(current) ? "current" : "in progress";
    expect(found, kind).toBe(state);
  }
});
