import { equalJson, formatRef, type Output, type Report, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import type { Results } from "./discovery/reuse.ts";
import { invalid, reported } from "./findings.ts";
import type { TargetTranslation } from "./inputs.ts";
import { concernedBy } from "./networking/concern.ts";
import type { TargetInputs } from "./networking/targets.ts";

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
  const claims = new Map<string, Claim | Claim[]>();
  for (const { inputs, result } of targets.values()) {
    for (const output of result.outputs) {
      const key = resourceKeyOf(refOf(output.resource));
      const others = claims.get(key);
      if (others === undefined) claims.set(key, { inputs, output });
      else if (Array.isArray(others)) others.push({ inputs, output });
      else claims.set(key, [others, { inputs, output }]);
    }
  }
  const outputs: Output[] = [];
  const reports: Report[] = [];
  for (const claim of claims.values()) {
    const [first, ...others] = Array.isArray(claim) ? claim : [claim];
    if (first === undefined) continue;
    if (others.every(({ output }) => equalJson(output.resource, first.output.resource))) outputs.push(first.output);
    else reports.push(...[first, ...others].flatMap((one) => collisionReports(one, [first, ...others])));
  }
  return { outputs, reports };
}

function collisionReports({ inputs, output }: Claim, claims: readonly Claim[]): readonly Report[] {
  const others = claims
    .filter((other) => other.inputs !== inputs)
    .map((other) => formatRef(concernedBy(other.inputs, other.output).target));
  const message = `${formatRef(refOf(output.resource))} is not written, as ${others.join(", ")} would be written under the same name: rename one of the services`;
  const { subjects, target } = concernedBy(inputs, output);
  return subjects.map((subject: ResourceRef) => reported(subject, invalid("OutputCollision", message), target));
}
