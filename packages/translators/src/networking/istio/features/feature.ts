import type { ConnectionPolicy, Destination, HttpRoute, TrafficPolicyRules, VirtualDestination } from "@isthmus/api";
import type { ClusterObjectRef, ObjectRef } from "@isthmus/core";
import type { Finding } from "../../../findings.ts";

/** The fields of a route that policies set. */
export type RouteFields = Omit<HttpRoute, "match" | "name">;

/** What a route policy may know beside the policy itself. */
export interface RouteContext {
  /** Where the requests start. */
  readonly clusterName: string;
  /** Whether Envoy may fill something into the values of headers. */
  readonly allowsHeaderOperators: boolean;
  /** The Destination of a Kubernetes Service, as attached. */
  destinationOf(service: ClusterObjectRef): Destination | undefined;
  /** The VirtualDestination that the policy means by a name. */
  virtualDestinationOf(ref: ObjectRef): VirtualDestination | undefined;
  /** Whether a Service of another cluster has a host name where the requests start. */
  isFederatedHere(service: ClusterObjectRef): boolean;
  /** The host name by which a Service is called from where the requests start. */
  hostnameOf(service: ClusterObjectRef): string;
}

/** Maps what a TrafficPolicy says to the route fields that it sets; the caller merges them and detects conflicts. */
export type RoutePolicy = (rules: TrafficPolicyRules, context: RouteContext) => RouteFields;

/** What is wrong with a part of a TrafficPolicy, and what to know of it. An INVALID finding keeps the policy off the destination. */
export type RouteCheck = (rules: TrafficPolicyRules, context: RouteContext) => readonly Finding[];

/** A route policy with the check that must have passed before it is asked. */
export interface CheckedRoutePolicy {
  readonly policy: RoutePolicy;
  readonly check?: RouteCheck;
  /** It asks its context, so its answer is another one for each source of requests. */
  readonly dependsOnSource?: true;
}

/** Maps what a TrafficPolicy says to the fields of a DestinationRule's traffic policy that it sets. */
export type ConnectionRule = (rules: TrafficPolicyRules) => ConnectionPolicy;

/** What is wrong with a part of a TrafficPolicy. An INVALID finding keeps the policy off the destination. */
export type ConnectionCheck = (rules: TrafficPolicyRules) => readonly Finding[];

/** A connection rule with the check that must have passed before it is asked. */
export interface CheckedConnectionRule {
  readonly rule: ConnectionRule;
  readonly check?: ConnectionCheck;
}
