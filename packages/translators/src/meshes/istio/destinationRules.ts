import type { ConnectionPolicy, DestinationRule } from "@isthmus/api";
import { merged } from "@isthmus/core";
import { hostnameFrom } from "../../policy/hosts/hostnames.ts";
import type { DestinationInputs } from "../inputs.ts";
import { withKeepalive } from "./features/connectionPoolSettings.ts";
import { defaultConnectionPolicy } from "./features/mtls.ts";
import { connectionFields } from "./policyFields.ts";
import { matchesFrom } from "./routes/matches.ts";
import { referencesOf, routeContext } from "./routes/routeContext.ts";
import type { Source } from "./source.ts";
import { subsetsOf } from "./subsets.ts";

type DestinationRuleSpec = NonNullable<DestinationRule["spec"]>;

/**
 * What the DestinationRule for connections from one source to a Destination says; undefined where nobody asks for anything, as any rule would
 * put less specific ones of users out of force.
 */
export function destinationRuleSpec(inputs: DestinationInputs, source: Source): DestinationRuleSpec | undefined {
  const { destination, translationContext } = inputs;
  const service = destination.spec?.kubeService?.ref;
  if (service === undefined) return undefined;
  const subsets = subsetsOf(destination);
  const trafficPolicy = connectionPolicyFrom(inputs, source);
  const saysNothing = Object.keys(trafficPolicy).length === 0;
  if (saysNothing && subsets.length === 0) return undefined;
  return {
    host: hostnameFrom(source.clusterName, { service, destination }, translationContext.clusterDomains),
    ...(saysNothing ? {} : { trafficPolicy }),
    ...(subsets.length === 0 ? {} : { subsets }),
  };
}

/** How connections from one source are made. Policies count for the whole destination, whatever requests they are for, as long as they are for some from the source. */
export function connectionPolicyFrom(inputs: DestinationInputs, source: Source): ConnectionPolicy {
  const { destination, trafficPolicies, translationContext } = inputs;
  let connections: ConnectionPolicy = defaultConnectionPolicy(translationContext.settings, source);
  const here = trafficPolicies.filter(({ spec }) => matchesFrom(source.clusterName, spec ?? {}) !== undefined);
  if (here.length > 0) {
    const context = routeContext(source, referencesOf(inputs));
    for (const policy of here) connections = merged(connections, connectionFields.fieldsOf(policy, context));
  }
  const isRemote = destination.spec?.kubeService?.ref?.clusterName !== source.clusterName;
  return isRemote ? withKeepalive(connections, destination.status?.appliedFederation?.tcpKeepalive) : connections;
}
