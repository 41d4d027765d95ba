import type { ConnectionPolicy, Destination, HttpFilter, HttpRoute, TrafficPolicyRules, VirtualDestination } from "@isthmus/api";
import type { ClusterObjectRef, ObjectRef } from "@isthmus/core";
import type { Finding } from "../../../findings.ts";
import type { PolicyReference } from "../../meshTranslator.ts";

/** The fields of a route that policies set. */
export type RouteFields = Omit<HttpRoute, "match" | "name">;

/** What features write: fields of each of these, which the caller merges. */
export interface Written {
  /** Routes of a VirtualService, for each source of requests. */
  readonly route: RouteFields;
  /** The traffic policy of a DestinationRule, for each source of requests. */
  readonly connection: ConnectionPolicy;
  /** The EnvoyFilter of a Destination's workloads, for all requests that they get. */
  readonly workload: WorkloadFields;
}

export type Writes = keyof Written;

/** HTTP filters of Envoy, each by the field that asks for it. */
export type WorkloadFields = { readonly [F in PolicyField]?: HttpFilter };

/** A field of `TrafficPolicy.spec.policy`. */
export type PolicyField = keyof TrafficPolicyRules;

/** What every feature may know beside its own field. */
export interface SettingsContext {
  /** Whether Envoy may fill something into the values of headers. */
  readonly allowsHeaderOperators: boolean;
}

/** What a feature may know that refers to other services. */
export interface RouteContext extends SettingsContext {
  /** Where the requests start. */
  readonly clusterName: string;
  /** The cluster that the policy is in; "" for the management cluster. */
  readonly policyCluster: string;
  /** The Destination of a Kubernetes Service, as attached. */
  destinationOf(service: ClusterObjectRef): Destination | undefined;
  /** The VirtualDestination that the policy means by a name. */
  virtualDestinationOf(ref: ObjectRef): VirtualDestination | undefined;
  /** Whether a Service of another cluster has a host name where the requests start. */
  isFederatedHere(service: ClusterObjectRef): boolean;
  /** The host name by which a Service is called from where the requests start. */
  hostnameOf(service: ClusterObjectRef): string;
}

/** All that is known of one field of a TrafficPolicy. Nothing but its schema is said of the field elsewhere. */
export interface Feature<W extends Writes = Writes> {
  readonly field: PolicyField;
  readonly writes: W;
  /** The output fields that it sets, each with the place where users set it, for messages. */
  readonly sets: Readonly<Record<string, string>>;
  /** What it refers to, where the field is set. Absent: nothing, ever. */
  readonly referencesOf?: (rules: TrafficPolicyRules) => readonly PolicyReference[];
  /** The output fields that it sets; none where the field is not set. Asked only when nothing was found INVALID. */
  fieldsOf(rules: TrafficPolicyRules, context: SettingsContext): Written[W];
  /** What is wrong with the field, and what to know of it. An INVALID finding keeps the policy off the destination. */
  findingsOf(rules: TrafficPolicyRules, context: SettingsContext): readonly Finding[];
}

/** A feature that asks for what it refers to, so its answer is another one for each source of requests. */
export interface ReferringFeature<W extends Writes = Writes> extends Omit<Feature<W>, "fieldsOf" | "findingsOf"> {
  readonly referencesOf: (rules: TrafficPolicyRules) => readonly PolicyReference[];
  fieldsOf(rules: TrafficPolicyRules, context: RouteContext): Written[W];
  findingsOf(rules: TrafficPolicyRules, context: RouteContext): readonly Finding[];
}

type Wanted<F extends PolicyField> = NonNullable<TrafficPolicyRules[F]>;
type KeysOf<O> = O extends unknown ? keyof O : never;
type PathIn<F extends PolicyField> = `spec.policy.${F}` | `spec.policy.${F}.${string}`;

interface Definition<F extends PolicyField, W extends Writes, O, Context> {
  readonly field: F;
  readonly writes: W;
  /** Exactly the fields that `fieldsOf` sets. */
  readonly sets: { readonly [K in KeysOf<O>]: K extends keyof Written[W] ? PathIn<F> : never };
  fieldsOf(wanted: Wanted<F>, context: Context): O & Written[NoInfer<W>];
  check?(wanted: Wanted<F>, context: Context): readonly Finding[];
}

/** A feature that is the same for all sources of requests. */
export function defineFeature<const F extends PolicyField, const W extends Writes, O>({
  field,
  writes,
  sets,
  fieldsOf,
  check,
}: Definition<F, W, O, SettingsContext>): Feature<W> {
  return { field, writes, sets, ...ofRules(field, fieldsOf, check) };
}

/** What is written for each source of requests. */
export type WritesBySource = Exclude<Writes, "workload">;

interface ReferringDefinition<F extends PolicyField, W extends WritesBySource, O> extends Definition<F, W, O, RouteContext> {
  /** All that `fieldsOf` and `check` ask their context for. */
  refersTo(wanted: Wanted<F>): readonly PolicyReference[];
}

/** A feature that refers to other services. */
export function defineReferringFeature<const F extends PolicyField, const W extends WritesBySource, O>({
  field,
  writes,
  sets,
  refersTo,
  fieldsOf,
  check,
}: ReferringDefinition<F, W, O>): ReferringFeature<W> {
  const referencesOf = (rules: TrafficPolicyRules) => {
    const wanted = rules[field];
    return wanted === undefined ? NONE : refersTo(wanted);
  };
  return { field, writes, sets, referencesOf, ...ofRules(field, fieldsOf, check) };
}

function ofRules<F extends PolicyField, O, Context>(
  field: F,
  fieldsOf: (wanted: Wanted<F>, context: Context) => O,
  check: ((wanted: Wanted<F>, context: Context) => readonly Finding[]) | undefined,
) {
  return {
    fieldsOf: (rules: TrafficPolicyRules, context: Context): O | Record<never, never> => {
      const wanted = rules[field];
      return wanted === undefined ? NOTHING : fieldsOf(wanted, context);
    },
    findingsOf: (rules: TrafficPolicyRules, context: Context): readonly Finding[] => {
      const wanted = rules[field];
      return wanted === undefined || check === undefined ? NONE : check(wanted, context);
    },
  };
}

const NONE: readonly never[] = [];
const NOTHING = {};
