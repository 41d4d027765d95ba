import type { ConnectionPolicy, DestinationRule, TrafficPolicy, TrafficPolicyRules } from "@isthmus/api";
import { merged } from "@isthmus/core";
import type { Finding } from "../../findings.ts";
import type { DestinationInputs } from "../../inputs.ts";
import { remembered } from "../../remembered.ts";
import { withKeepalive } from "./features/connectionPoolSettings.ts";
import { connectionRules } from "./features/index.ts";
import { defaultConnectionPolicy } from "./features/mtls.ts";
import { hostnameFrom } from "./hostnames.ts";
import { matchesFrom } from "./matches.ts";
import type { Source } from "./source.ts";
import { subsetsOf } from "./subsets.ts";

type DestinationRuleSpec = NonNullable<DestinationRule["spec"]>;

/** What the DestinationRule for connections from one source to a Destination says: every Service of an Istio mesh has one. */
export function destinationRuleSpec(inputs: DestinationInputs, source: Source): DestinationRuleSpec | undefined {
  const { destination, surroundings } = inputs;
  const service = destination.spec?.kubeService?.ref;
  if (service === undefined) return undefined;
  const subsets = subsetsOf(destination);
  return {
    host: hostnameFrom(source.clusterName, { service, destination }, surroundings.clusterDomains),
    trafficPolicy: connectionPolicyFrom(inputs, source),
    ...(subsets.length === 0 ? {} : { subsets }),
  };
}

/** The fields of a DestinationRule's traffic policy that one TrafficPolicy sets. */
export function connectionFieldsOf({ spec }: TrafficPolicy): ConnectionPolicy {
  return spec?.policy === undefined ? {} : fieldsOf(spec.policy);
}

/** What is wrong with the connection settings that one TrafficPolicy asks for. */
export function connectionFindingsOf({ spec }: TrafficPolicy): readonly Finding[] {
  return spec?.policy === undefined ? [] : findingsOf(spec.policy);
}

const fieldsOf = remembered(
  (rules: TrafficPolicyRules): ConnectionPolicy => Object.assign({}, ...connectionRules.map(({ rule }) => rule(rules))),
);
const findingsOf = remembered((rules: TrafficPolicyRules) => connectionRules.flatMap(({ check }) => check?.(rules) ?? []));

/** Policies count for the whole destination, whatever requests they are for, as long as they are for some from the source. */
function connectionPolicyFrom(inputs: DestinationInputs, source: Source): ConnectionPolicy {
  const { destination, trafficPolicies, surroundings } = inputs;
  let connections: ConnectionPolicy = defaultConnectionPolicy(surroundings.settings, source);
  for (const policy of trafficPolicies) {
    if (matchesFrom(source.clusterName, policy.spec ?? {}) !== undefined) connections = merged(connections, connectionFieldsOf(policy));
  }
  const isRemote = destination.spec?.kubeService?.ref?.clusterName !== source.clusterName;
  return isRemote ? withKeepalive(connections, destination.status?.appliedFederation?.tcpKeepalive) : connections;
}
