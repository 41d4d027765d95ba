import { DestinationRule, type TrafficPolicy, type TrafficPolicyRules, VirtualService } from "@isthmus/api";
import type { Finding } from "../../findings.ts";
import { remembered } from "../../remembered.ts";
import type { Feature, PolicyField, ReferringFeature, RouteContext, SettingsContext, Writes, Written } from "./features/feature.ts";
import { features } from "./features/index.ts";
import type { References } from "./routeContext.ts";

/** What features may know, whichever policy they come from. */
export interface SourceContext extends Omit<RouteContext, "virtualDestinationOf"> {
  readonly virtualDestinationOf: References["virtualDestinationOf"];
}

/** What one policy says in one kind of output. */
interface PolicyFields<W extends Writes> {
  /** The output fields that it sets. */
  fieldsOf(policy: TrafficPolicy, context: SourceContext): Written[W];
  /** What is wrong with them, and what to know of them. */
  findingsOf(policy: TrafficPolicy, context: SourceContext): readonly Finding[];
}

/** What a policy says of routes. */
export const routeFields = fieldsWritten("route");

/** What a policy says of connections. */
export const connectionFields = fieldsWritten("connection");

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
  return fields && policies.filter(({ spec }) => fields.some((field) => spec?.policy?.[field] !== undefined));
}

/** The kind of output that each kind of fields goes into. */
const OUTPUT_KINDS: { readonly [W in Writes]: string } = { route: VirtualService.kind, connection: DestinationRule.kind };

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
function fieldsWritten<W extends Writes>(writes: W): PolicyFields<W> {
  const own = features.filter((feature): feature is Feature<W> | ReferringFeature<W> => feature.writes === writes);
  const referring = own.filter(isReferring);
  const others = own.filter((feature): feature is Feature<W> => !isReferring(feature));
  const fieldsEverywhere = bySettings((rules, context) => assigned(others.map(({ fieldsOf }) => fieldsOf(rules, context))));
  const findingsEverywhere = bySettings((rules, context) => others.flatMap(({ findingsOf }) => findingsOf(rules, context)));
  const refers = (rules: TrafficPolicyRules) => referring.some(({ field }) => rules[field] !== undefined);
  return {
    fieldsOf(policy, context) {
      const rules = policy.spec?.policy ?? NO_RULES;
      const everywhere = fieldsEverywhere(rules, context);
      if (!refers(rules)) return everywhere;
      const own = contextOf(policy, context);
      return assigned([everywhere, ...referring.map(({ fieldsOf }) => fieldsOf(rules, own))]);
    },
    findingsOf(policy, context) {
      const rules = policy.spec?.policy ?? NO_RULES;
      const everywhere = findingsEverywhere(rules, context);
      if (!refers(rules)) return everywhere;
      const own = contextOf(policy, context);
      return [...referring.flatMap(({ findingsOf }) => findingsOf(rules, own)), ...everywhere];
    },
  };
}

const NO_RULES: TrafficPolicyRules = {};

function isReferring<W extends Writes>(feature: Feature<W> | ReferringFeature<W>): feature is ReferringFeature<W> {
  return feature.referencesOf !== undefined;
}

function bySettings<V>(make: (rules: TrafficPolicyRules, context: SettingsContext) => V) {
  const plain = remembered((rules: TrafficPolicyRules) => make(rules, { allowsHeaderOperators: false }));
  const withOperators = remembered((rules: TrafficPolicyRules) => make(rules, { allowsHeaderOperators: true }));
  return (rules: TrafficPolicyRules, { allowsHeaderOperators }: SettingsContext) => (allowsHeaderOperators ? withOperators : plain)(rules);
}

/** Features set different fields. */
function assigned<W extends Writes>(parts: readonly Written[W][]): Written[W] {
  return Object.assign({}, ...parts);
}

/** A policy names VirtualDestinations as its own cluster knows them. */
function contextOf({ metadata }: TrafficPolicy, context: SourceContext): RouteContext {
  const { clusterName = "" } = metadata;
  return { ...context, virtualDestinationOf: ({ name, namespace }) => context.virtualDestinationOf({ name, namespace, clusterName }) };
}
