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
  return next.map((condition) => {
    const before = previous.find(({ type }) => type === condition.type);
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;
    return { ...condition, lastTransitionTime, ...(observedGeneration === undefined ? {} : { observedGeneration }) };
  });
}
