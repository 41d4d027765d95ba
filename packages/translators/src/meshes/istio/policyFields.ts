import { DestinationRule, EnvoyFilter, type TrafficPolicy, type TrafficPolicyRules, VirtualService } from "@isthmus/api";
import type { Finding } from "../../findings.ts";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { isSilent, saysNothing } from "../../policy/silentRules.ts";
import type { PolicyReference, ReferenceLookup } from "../meshTranslator.ts";
import type {
  Feature,
  PolicyField,
  ReferringFeature,
  RouteContext,
  SettingsContext,
  Writes,
  WritesBySource,
  Written,
} from "./features/feature.ts";
import { features } from "./features/index.ts";

/** What features may know, whichever policy they come from. */
export interface SourceContext extends Omit<RouteContext, "virtualDestinationOf" | "policyCluster"> {
  readonly virtualDestinationOf: ReferenceLookup["virtualDestinationOf"];
}

/** What one policy says in one kind of output. */
interface PolicyFields<W extends Writes, Context> {
  /** The output fields that it sets. */
  fieldsOf(policy: TrafficPolicy, context: Context): Written[W];
  /** What is wrong with them, and what to know of them. */
  findingsOf(policy: TrafficPolicy, context: Context): readonly Finding[];
}

/** What a policy says of routes. */
export const routeFields = fieldsBySource("route");

/** What a policy says of connections. */
export const connectionFields = fieldsBySource("connection");

/** What a policy says of workloads, no matter who calls them. */
export const workloadFields = fieldsEverywhere("workload");

/** Where users set an output field, for messages. */
export function policyPathOf(writes: Writes, outputField: string): string {
  return PATHS.get(`${writes} ${outputField}`) ?? outputField;
}

const PATHS = new Map(
  features.flatMap(({ writes, sets }) => Object.entries(sets).map(([name, path]) => [`${writes} ${name}`, path] as const)),
);

/** Those of some policies that set a field of outputs of a kind; undefined when no feature writes such outputs. */
export function policiesWriting(outputKind: string, policies: readonly TrafficPolicy[]): readonly TrafficPolicy[] | undefined {
  const fields = FIELDS_BY_OUTPUT_KIND.get(outputKind);
  return fields && policies.filter(({ spec }) => fields.some((field) => !isSilent(field, spec?.policy?.[field])));
}

/** What is wrong with rules, whatever they refer to. */
export const findingsOfRules = bySettings((rules, context) =>
  features.flatMap((feature) => (isReferring(feature) ? [] : feature.findingsOf(rules, context))),
);

/** A policy without what it says of connections; undefined where that is all. */
export const withoutConnections = memoizeRow((policy: TrafficPolicy): TrafficPolicy | undefined => {
  const others = Object.entries(policy.spec?.policy ?? NO_RULES).filter(([field]) => !CONNECTIONS.has(field));
  return saysNothing(Object.fromEntries(others)) ? undefined : { ...policy, spec: { ...policy.spec, policy: Object.fromEntries(others) } };
});

const CONNECTIONS: ReadonlySet<string> = new Set(features.flatMap(({ field, writes }) => (writes === "connection" ? [field] : [])));

/** What rules refer to beside the Destination that they are in force on. */
export function referencesOfRules(rules: TrafficPolicyRules): readonly PolicyReference[] {
  return features.flatMap((feature) => feature.referencesOf?.(rules) ?? []);
}

/** The kind of output that each kind of fields goes into. */
const OUTPUT_KINDS: { readonly [W in Writes]: string } = {
  route: VirtualService.kind,
  connection: DestinationRule.kind,
  workload: EnvoyFilter.kind,
};

const FIELDS_BY_OUTPUT_KIND: ReadonlyMap<string, readonly PolicyField[]> = new Map(
  Object.entries(OUTPUT_KINDS).map(([kindOfFields, kind]) => [
    kind,
    features.flatMap(({ field, writes }) => (writes === kindOfFields ? [field] : [])),
  ]),
);

/** Whether the answer of a policy can be another one for each source. */
export function asksContext(rules: TrafficPolicyRules): boolean {
  return REFERRING.some(({ field }) => rules[field] !== undefined);
}

const REFERRING = features.filter(isReferring);

/** What refers to nothing is asked once for each policy, whatever the source. */
function fieldsEverywhere<W extends Writes>(writes: W): PolicyFields<W, SettingsContext> {
  const others = writing(writes).filter((feature): feature is Feature<W> => !isReferring(feature));
  const fields = bySettings((rules, context) => assigned(others.map(({ fieldsOf }) => fieldsOf(rules, context))));
  const findings = bySettings((rules, context) => others.flatMap(({ findingsOf }) => findingsOf(rules, context)));
  return {
    fieldsOf: ({ spec }, context) => fields(spec?.policy ?? NO_RULES, context),
    findingsOf: ({ spec }, context) => findings(spec?.policy ?? NO_RULES, context),
  };
}

function fieldsBySource<W extends WritesBySource>(writes: W): PolicyFields<W, SourceContext> {
  const everywhere = fieldsEverywhere(writes);
  const referring = writing(writes).filter(isReferring);
  const refers = (rules: TrafficPolicyRules) => referring.some(({ field }) => rules[field] !== undefined);
  return {
    fieldsOf(policy, context) {
      const rules = policy.spec?.policy ?? NO_RULES;
      const fields = everywhere.fieldsOf(policy, context);
      if (!refers(rules)) return fields;
      const own = contextOf(policy, context);
      return assigned([fields, ...referring.map(({ fieldsOf }) => fieldsOf(rules, own))]);
    },
    findingsOf(policy, context) {
      const rules = policy.spec?.policy ?? NO_RULES;
      const findings = everywhere.findingsOf(policy, context);
      if (!refers(rules)) return findings;
      const own = contextOf(policy, context);
      return [...referring.flatMap(({ findingsOf }) => findingsOf(rules, own)), ...findings];
    },
  };
}

function writing<W extends Writes>(writes: W): readonly (Feature<W> | ReferringFeature<W>)[] {
  return features.filter((feature): feature is Feature<W> | ReferringFeature<W> => feature.writes === writes);
}

const NO_RULES: TrafficPolicyRules = {};

function isReferring<W extends Writes>(feature: Feature<W> | ReferringFeature<W>): feature is ReferringFeature<W> {
  return feature.referencesOf !== undefined;
}

function bySettings<V>(make: (rules: TrafficPolicyRules, context: SettingsContext) => V) {
  const plain = memoizeRow((rules: TrafficPolicyRules) => make(rules, { allowsHeaderOperators: false }));
  const withOperators = memoizeRow((rules: TrafficPolicyRules) => make(rules, { allowsHeaderOperators: true }));
  return (rules: TrafficPolicyRules, { allowsHeaderOperators }: SettingsContext) => (allowsHeaderOperators ? withOperators : plain)(rules);
}

/** Features set different fields. */
function assigned<W extends Writes>(parts: readonly Written[W][]): Written[W] {
  return Object.assign({}, ...parts);
}

/** A policy names VirtualDestinations as its own cluster knows them. */
function contextOf({ metadata }: TrafficPolicy, context: SourceContext): RouteContext {
  const { clusterName = "" } = metadata;
  const virtualDestinationOf: RouteContext["virtualDestinationOf"] = ({ name, namespace }) =>
    context.virtualDestinationOf({ name, namespace, clusterName });
  return { ...context, policyCluster: clusterName, virtualDestinationOf };
}
