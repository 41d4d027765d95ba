import { merged } from "./merged.ts";

/** A standard Kubernetes condition, without a time: times are added when the condition is written and has changed. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

/** A condition as it stands in a status. */
export interface TimedCondition extends Condition {
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/**
 * `next` with the times of conditions kept where their status did not change, so that an unchanged status stays equal.
 * `now` is RFC 3339 with seconds.
 */
export function timedConditions(
  next: readonly Condition[],
  previous: readonly TimedCondition[],
  now: string,
  observedGeneration?: number,
): TimedCondition[] {
  return next.map(({ type, status, reason, message }) => {
    const before = previous.find((other) => other.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
    const condition = { type, status, reason, message, lastTransitionTime };
    return observedGeneration === undefined ? condition : merged(condition, { observedGeneration });
  });
}
