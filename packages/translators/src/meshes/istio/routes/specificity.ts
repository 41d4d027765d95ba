import type { HttpMatchRequest, HttpRoute } from "@isthmus/api";
import { compareKeys } from "@isthmus/core";

/**
 * Orders routes so that a more specific one stands before a more general one, as Istio takes the first that matches. Stable for
 * equals: routes of the policy with precedence stay first. The order of criteria is the published product's.
 */
export function bySpecificity(a: HttpRoute, b: HttpRoute): number {
  const [left, right] = [a.match?.[0], b.match?.[0]];
  if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
  for (const criterion of CRITERIA) {
    const order = criterion(left, right);
    if (order !== 0) return order;
  }
  return 0;
}

type Criterion = (a: HttpMatchRequest, b: HttpMatchRequest) => number;

const CRITERIA: readonly Criterion[] = [
  longer((match) => match.uri?.exact),
  longer((match) => match.uri?.regex),
  longer((match) => match.uri?.prefix),
  more((match) => match.headers),
  more((match) => match.queryParams),
  more((match) => match.sourceLabels),
  presentThenDescending((match) => match.sourceNamespace),
  presentThenDescending((match) => match.method?.exact),
  more((match) => match.withoutHeaders),
  (a, b) => (a.port ?? 0) - (b.port ?? 0),
];

/** Present before absent, longer before shorter, then by text. */
function longer(text: (match: HttpMatchRequest) => string | undefined): Criterion {
  return (a, b) => {
    const [left, right] = [text(a), text(b)];
    if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
    return right.length - left.length || compareKeys(left, right);
  };
}

function more(conditions: (match: HttpMatchRequest) => object | undefined): Criterion {
  const count = (match: HttpMatchRequest) => Object.keys(conditions(match) ?? {}).length;
  return (a, b) => count(b) - count(a);
}

function presentThenDescending(text: (match: HttpMatchRequest) => string | undefined): Criterion {
  return (a, b) => compareKeys(text(b) ?? "", text(a) ?? "");
}
