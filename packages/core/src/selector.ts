/** Whether `labels` hold every pair of `wanted`. An empty or absent `wanted` matches everything. */
export function matchesLabels(
  wanted: Readonly<Record<string, string>> | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  for (const key in wanted) if (labels?.[key] !== wanted[key]) return false;
  return true;
}

/** A label requirement as Kubernetes writes it. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** A Kubernetes label selector: all labels and all requirements must hold; an empty one matches everything. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

/** Whether a Kubernetes label selector matches. Source: kubernetes.io/docs/concepts/overview/working-with-objects/labels. */
export function matchesSelector(selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean {
  if (!matchesLabels(selector.matchLabels, labels)) return false;
  return (selector.matchExpressions ?? []).every((requirement) => holds(requirement, labels));
}

function holds({ key, operator, values = [] }: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  // A key such as "constructor" is one that every object has.
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
  }
}
