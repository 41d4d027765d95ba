import type { ConnectionPolicy, TrafficPolicyRules } from "@isthmus/api";
import type { Finding } from "../../../findings.ts";

/** Maps what a TrafficPolicy says to the fields of a DestinationRule's traffic policy that it sets. */
export type ConnectionRule = (rules: TrafficPolicyRules) => ConnectionPolicy;

/** What is wrong with a part of a TrafficPolicy. An INVALID finding keeps the policy off the destination. */
export type ConnectionCheck = (rules: TrafficPolicyRules) => readonly Finding[];

/** A connection rule with the check that must have passed before it is asked. */
export interface CheckedConnectionRule {
  readonly rule: ConnectionRule;
  readonly check?: ConnectionCheck;
}
