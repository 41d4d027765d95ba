import { type ConnectionPolicy, DestinationRule, type TrafficPolicy, type TrafficPolicyRules } from "@isthmus/api";
import type { Finding } from "../../findings.ts";
import { type DestinationInputs, nothing, type TargetTranslation } from "../../inputs.ts";
import { remembered } from "../../remembered.ts";
import { outputOf } from "../outputMetadata.ts";
import { withKeepalive } from "./connections/connectionPool.ts";
import { connectionRules } from "./connections/index.ts";
import { defaultConnectionPolicy } from "./connections/tls.ts";
import { hostnameFrom } from "./hostnames.ts";
import { matchesFrom } from "./matches.ts";
import { objectNameFor, type Source } from "./source.ts";
import { subsetsOf } from "./subsets.ts";
import { userConflict } from "./userObjects.ts";

/**
 * The DestinationRule for connections from one source to a Destination: every Service of an Istio mesh has one, unless
 * a user's own object is about the host and must not be met.
 */
export function destinationRuleFor(inputs: DestinationInputs, source: Source): TargetTranslation {
  const { destination, surroundings } = inputs;
  const service = destination.spec?.kubeService?.ref;
  if (service === undefined) return nothing;
  if (surroundings.disallowIntersectingConfig && userConflict(inputs, { kind: "DestinationRule", source }) !== undefined) return nothing;
  const subsets = subsetsOf(destination);
  const spec = {
    host: hostnameFrom(source.clusterName, { service, destination }, surroundings.clusterDomains),
    trafficPolicy: connectionPolicyFrom(inputs, source),
    ...(subsets.length === 0 ? {} : { subsets }),
  };
  const output = outputOf(
    {
      ...objectNameFor(destination, source),
      owner: surroundings.namespace,
      annotationsOf: destination,
      ...(source.remoteMesh === undefined
        ? { parents: [destination] }
        : { parents: inputs.virtualMesh === undefined ? [] : [inputs.virtualMesh], federates: service }),
    },
    { apiVersion: DestinationRule.apiVersion, kind: DestinationRule.kind, spec },
  );
  return { outputs: [output], reports: [] };
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
  let merged: ConnectionPolicy = defaultConnectionPolicy(surroundings.settings, source);
  for (const policy of trafficPolicies) {
    if (matchesFrom(source.clusterName, policy.spec ?? {}) !== undefined) merged = { ...merged, ...connectionFieldsOf(policy) };
  }
  const isRemote = destination.spec?.kubeService?.ref?.clusterName !== source.clusterName;
  return isRemote ? withKeepalive(merged, destination.status?.appliedFederation?.tcpKeepalive) : merged;
}
