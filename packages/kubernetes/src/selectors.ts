import type { LabelRequirement, LabelSelector } from "@isthmus/core";
import type { ListOptions } from "@isthmus/ports";

/** The query parameters of a list or watch. */
export function selectionQuery({ name, labels }: ListOptions): Readonly<Record<string, string>> {
  const labelSelector = labels === undefined ? "" : selectorText(labels);
  return { ...(labelSelector === "" ? {} : { labelSelector }), ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }) };
}

/** A label selector in the text form of the API. Source: kubernetes.io/docs/concepts/overview/working-with-objects/labels/#api. */
function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  return [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...matchExpressions.map(requirementText)].join(",");
}

function requirementText({ key, operator, values = [] }: LabelRequirement): string {
  switch (operator) {
    case "In":
      return `${key} in (${values.join(",")})`;
    case "NotIn":
      return `${key} notin (${values.join(",")})`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
  }
}
