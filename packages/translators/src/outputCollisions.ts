import { equalJson, formatRef, type Output, type Report, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import type { Results } from "./discovery/reuse.ts";
import { invalid, reported } from "./findings.ts";
import type { TargetTranslation } from "./inputs.ts";
import { concernedBy } from "./networking/concern.ts";
import type { TargetInputs } from "./networking/targets.ts";
import { remembered } from "./remembered.ts";

interface Claim {
  readonly inputs: TargetInputs;
  readonly output: Output;
}

/**
 * All outputs but those that two targets want to write differently: of them neither is written, and both sides are told. What
 * both want alike is one output: revisions of a control plane share its namespace, and so what is said of it.
 */
export function withoutOutputCollisions(targets: Results<TargetInputs, TargetTranslation>): {
  readonly outputs: readonly Output[];
  readonly reports: readonly Report[];
} {
  const taken = new Set<string>();
  const collided = new Set<string>();
  for (const { result } of targets.values()) {
    for (const key of keysOf(result)) {
      if (taken.has(key)) collided.add(key);
      else taken.add(key);
    }
  }
  const outputs = [...targets.values()].flatMap(({ result }) => result.outputs);
  if (collided.size === 0) return { outputs, reports: [] };
  const claims = new Map<string, Claim[]>([...collided].map((key) => [key, []]));
  for (const { inputs, result } of targets.values()) {
    for (const output of result.outputs) claims.get(keyOfOutput(output))?.push({ inputs, output });
  }
  const settled = [...claims.values()].map(settledClaims);
  return {
    outputs: [...outputs.filter((output) => !collided.has(keyOfOutput(output))), ...settled.flatMap((one) => one.outputs)],
    reports: settled.flatMap(({ reports }) => reports),
  };
}

/** What several targets want under one name. */
function settledClaims(claims: readonly Claim[]): { readonly outputs: readonly Output[]; readonly reports: readonly Report[] } {
  const [first, ...others] = claims.map(({ output }) => output);
  if (first !== undefined && others.every(({ resource }) => equalJson(resource, first.resource))) return { outputs: [first], reports: [] };
  return { outputs: [], reports: claims.flatMap((claim) => collisionReports(claim, claims)) };
}

// Most translations are those of the run before.
const keysOf = remembered(({ outputs }: TargetTranslation) => outputs.map(keyOfOutput));

function keyOfOutput({ resource }: Output): string {
  return resourceKeyOf(refOf(resource));
}

function collisionReports({ inputs, output }: Claim, claims: readonly Claim[]): readonly Report[] {
  const others = claims
    .filter((other) => other.inputs !== inputs)
    .map((other) => formatRef(concernedBy(other.inputs, other.output).target));
  const message = `${formatRef(refOf(output.resource))} is not written, as ${others.join(", ")} would be written under the same name: rename one of the services`;
  const { subjects, target } = concernedBy(inputs, output);
  return subjects.map((subject: ResourceRef) => reported(subject, invalid("OutputCollision", message), target));
}
