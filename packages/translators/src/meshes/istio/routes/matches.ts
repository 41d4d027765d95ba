import {
  escapedRegex,
  type HttpMatcher,
  type HttpMatchRequest,
  ineffectiveFields,
  TrafficPolicy,
  type TrafficPolicySpec,
  type WorkloadSelector,
} from "@isthmus/api";
import { equalJson, merged } from "@isthmus/core";
import { memoizeRow } from "../../../incremental/memoizeRow.ts";

/** The part of a match that says where requests come from. */
type SourceMatch = Pick<HttpMatchRequest, "sourceNamespace" | "sourceLabels">;

const SCHEMA = TrafficPolicy.definition.fields.spec.properties;

/** What requests from one cluster a policy is for: from any of the sources, and like any of the requests. */
export interface Matches {
  /** The policy's source selectors as they are compared with those of others. */
  readonly selectorForm: string;
  readonly sources: readonly SourceMatch[];
  readonly requests: readonly HttpMatchRequest[];
  /** The selectors of these sources name the cluster. No match shows it, yet it is narrower than the same for all clusters. */
  readonly namesCluster: boolean;
}

/**
 * What requests from one cluster a policy is for; undefined when it is for none. Source labels and namespaces stay with the
 * clusters they were written with: an entry for another cluster has no part in it.
 */
export function matchesFrom(clusterName: string, spec: TrafficPolicySpec): Matches | undefined {
  const known = matchesByCluster(spec);
  // All clusters that the policy does not name share what it says for them.
  const place = clustersIn(spec).has(clusterName) ? clusterName : UNNAMED;
  let matches = known.get(place);
  if (matches === undefined) {
    matches = {
      selectorForm: selectorForm(spec),
      sources: sourceMatches(clusterName, spec.sourceSelector),
      requests: requestMatches(spec),
      namesCluster: isForClusters(spec),
    };
    known.set(place, matches);
  }
  return matches.sources.length === 0 ? undefined : matches;
}

// Asked for each service and source that a policy is about.
const matchesByCluster = memoizeRow((_: TrafficPolicySpec) => new Map<string | typeof UNNAMED, Matches>());
const UNNAMED = Symbol("a cluster that no source selector names");

const clustersIn = memoizeRow(
  ({ sourceSelector = [] }: TrafficPolicySpec) =>
    new Set(sourceSelector.flatMap(({ kubeWorkloadMatcher }) => kubeWorkloadMatcher?.clusters ?? [])),
);

const requestMatches = memoizeRow(({ httpRequestMatchers = [] }: TrafficPolicySpec): readonly HttpMatchRequest[] =>
  httpRequestMatchers.length === 0 ? [{}] : httpRequestMatchers.filter(isUnderstoodMatcher).map(requestMatch),
);

/** Whether every source selector names clusters. */
function isForClusters({ sourceSelector = [] }: TrafficPolicySpec): boolean {
  return sourceSelector.length > 0 && sourceSelector.every(({ kubeWorkloadMatcher }) => (kubeWorkloadMatcher?.clusters ?? []).length > 0);
}

/** Source selectors in any order, their namespaces too, and whatever clusters they name. */
const selectorForm = memoizeRow(({ sourceSelector = [] }: TrafficPolicySpec): string => {
  const entries = sourceSelector.map(({ kubeWorkloadMatcher: { labels = {}, namespaces = [] } = {} }) =>
    JSON.stringify([Object.entries(labels).sort(), [...new Set(namespaces)].sort()]),
  );
  return entries.sort().join();
});

/**
 * Whether two policies are for the same requests in the same words: together they make one route, and where both set one field
 * they are in conflict. In other words, as one policy for every source and one for a cluster, each makes its own route, and the
 * first one counts (`bySources`). Selectors come in any order, matchers in the same order.
 */
export function equalMatches(a: Matches, b: Matches): boolean {
  return a.selectorForm === b.selectorForm && a.sources.length === b.sources.length && equalJson(a.requests, b.requests) && covers(a, b);
}

/** Orders matches that are for the same requests: those that name the cluster before those for all clusters. Stable for equals. */
export function bySources(a: Matches, b: Matches): number {
  return Number(b.namesCluster) - Number(a.namesCluster);
}

/** Whether every request that some matches are for is also one of others. */
export function covers(some: Matches, others: Matches): boolean {
  return isIn(others.sources, some.sources) && isIn(others.requests, some.requests);
}

function isIn(wanted: readonly object[], given: readonly object[]): boolean {
  return wanted === given || wanted.every((one) => given.some((other) => equalJson(one, other)));
}

/** Every combination of a source and a request, as Istio wants them. */
export function matchRequests({ sources, requests }: Matches): readonly HttpMatchRequest[] {
  return sources.flatMap((source) => requests.map((request) => merged(source, request)));
}

/** One match per namespace of each entry that selects the cluster; a single match without conditions when an entry selects all of it. */
function sourceMatches(clusterName: string, selectors: readonly WorkloadSelector[] | undefined): readonly SourceMatch[] {
  if (selectors === undefined || selectors.length === 0) return [{}];
  const matches: SourceMatch[] = [];
  for (const selector of selectors) {
    if (!isUnderstoodSelector(selector)) continue;
    const { clusters = [], namespaces = [], labels = {} } = selector.kubeWorkloadMatcher ?? {};
    if (clusters.length > 0 && !clusters.includes(clusterName)) continue;
    const sourceLabels = Object.keys(labels).length === 0 ? {} : { sourceLabels: labels };
    if (namespaces.length === 0 && Object.keys(labels).length === 0) return [{}];
    if (namespaces.length === 0) add(matches, sourceLabels);
    for (const sourceNamespace of namespaces) add(matches, { sourceNamespace, ...sourceLabels });
  }
  return matches;
}

function add(matches: SourceMatch[], match: SourceMatch): void {
  if (!matches.some((other) => equalJson(other, match))) matches.push(match);
}

/** A selector or matcher with a member that is not understood matches nothing: leaving the member out would widen it. */
function isUnderstoodSelector(selector: WorkloadSelector): boolean {
  return ineffectiveFields(SCHEMA.sourceSelector.items, selector, "").length === 0;
}

function isUnderstoodMatcher(matcher: HttpMatcher): boolean {
  return ineffectiveFields(SCHEMA.httpRequestMatchers.items, matcher, "").length === 0;
}

function requestMatch({ uri, method, headers, queryParameters }: HttpMatcher): HttpMatchRequest {
  const wanted = (headers ?? []).filter(({ invertMatch }) => !invertMatch);
  const unwanted = (headers ?? []).filter(({ invertMatch }) => invertMatch);
  return {
    ...(uri === undefined ? {} : uriMatch(uri)),
    ...(method === undefined || method === "" ? {} : { method: { exact: method } }),
    ...named("headers", wanted),
    ...named("withoutHeaders", unwanted),
    ...named("queryParams", queryParameters ?? []),
  };
}

/** Istio knows no suffix: it becomes a regular expression, which matches whole paths. */
function uriMatch({ exact, prefix, regex, suffix, ignoreCase }: NonNullable<HttpMatcher["uri"]>): HttpMatchRequest {
  if (suffix !== undefined) return { uri: { regex: `${ignoreCase ? "(?i)" : ""}.*${escapedRegex(suffix)}$` } };
  if (regex !== undefined) return { uri: { regex } };
  const caseless = ignoreCase ? { ignoreUriCase: true } : {};
  if (exact !== undefined) return { uri: { exact }, ...caseless };
  if (prefix !== undefined) return { uri: { prefix }, ...caseless };
  return {};
}

interface NamedMatcher {
  readonly name?: string;
  readonly value?: string;
  readonly regex?: boolean;
}

/** Conditions by name. Without a value the name must merely be there, which Istio says by a condition without members. */
function named(field: "headers" | "withoutHeaders" | "queryParams", matchers: readonly NamedMatcher[]): HttpMatchRequest {
  if (matchers.length === 0) return {};
  const conditions = matchers.map(({ name = "", value = "", regex = false }) => {
    return [name, value === "" ? {} : regex ? { regex: value } : { exact: value }] as const;
  });
  return { [field]: Object.fromEntries(conditions) };
}
