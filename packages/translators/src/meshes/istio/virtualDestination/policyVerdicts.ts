import type { TrafficPolicy, TrafficPolicyRules } from "@isthmus/api";
import { type Finding, invalidFinding, warningFinding } from "../../../findings.ts";
import { isSilent } from "../../../policy/silentRules.ts";
import type { PolicyEvaluation, VirtualPolicyTarget } from "../../meshTranslator.ts";
import { evaluatedInOrder } from "../../policyEvaluation.ts";
import { distinct } from "../conflicts/conflicts.ts";
import { RouteFieldOwners } from "../conflicts/routeFieldOwners.ts";
import type { PolicyField } from "../features/feature.ts";
import { features } from "../features/index.ts";
import { MUTUAL } from "../features/mtls.ts";
import { remoteSource } from "../source.ts";
import { NO_REFERENCES } from "./policies.ts";

/**
 * Which policies are in force on the host of a VirtualDestination: as on a Destination, from each mesh that can call it. Its rules are
 * those for a host that is behind gateways in other clusters (docs/decisions/0070).
 */
export function evaluateVirtualPolicies(target: VirtualPolicyTarget): readonly PolicyEvaluation[] {
  const { virtualDestination, policies, translationContext } = target;
  const contested = { object: virtualDestination, policies, translationContext, references: NO_REFERENCES };
  const sources = target.exports.flatMap(({ mesh }) =>
    mesh.spec?.istio === undefined ? [] : [new RouteFieldOwners(remoteSource(mesh), contested)],
  );
  const verdicts = evaluatedInOrder(target, {
    findingsOf(policy) {
      const refused = refusals(policy.spec?.policy ?? {});
      return refused.length > 0 ? refused : distinct(sources.flatMap((source) => source.findingsOf(policy)));
    },
    add(policy) {
      for (const source of sources) source.add(policy);
    },
  });
  return verdicts.map(({ policy, inForce, findings }) => ({
    policy,
    inForce,
    findings: inForce === policy ? [...findings, ...protocolFindings(target, policy)] : findings,
  }));
}

/** What a host with pods behind other clusters' gateways cannot have. */
function refusals(rules: TrafficPolicyRules): readonly Finding[] {
  const fields = features.flatMap(({ field, referencesOf, writes }) => {
    if (isSilent(field, rules[field])) return [];
    return referencesOf !== undefined || writes === "workload" ? [refusal(field)] : [];
  });
  const { tlsMode = MUTUAL } = rules.mtls?.istio ?? {};
  if (tlsMode === MUTUAL) return fields;
  const message = `spec.policy.mtls: ${tlsMode} is not passed on by the east-west gateways behind the host of a VirtualDestination: set ISTIO_MUTUAL, or select its Services instead`;
  return [...fields, invalidFinding("VirtualHostUnsupported", message)];
}

function refusal(field: PolicyField): Finding {
  const message = `spec.policy.${field}: is not supported for the host of a VirtualDestination: select the Services behind it instead, with kubeServiceMatcher or kubeServiceRefs`;
  return invalidFinding("VirtualHostUnsupported", message);
}

/** Routes are for HTTP alone. */
function protocolFindings({ spec }: VirtualPolicyTarget, { spec: wanted = {} }: TrafficPolicy): readonly Finding[] {
  const protocol = (spec.port?.protocol ?? "HTTP").toUpperCase();
  if (HTTP.includes(protocol)) return [];
  const rules = wanted.policy ?? {};
  return features.flatMap(({ field, writes }) => {
    if (writes !== "route" || isSilent(field, rules[field])) return [];
    const message = `spec.policy.${field}: no effect on connections to port ${spec.port?.number}, whose protocol is ${protocol}: remove it, or set spec.port.protocol of the VirtualDestination to HTTP`;
    return [warningFinding("NoEffect", message)];
  });
}

const HTTP: readonly string[] = ["HTTP", "HTTP2", "GRPC"];
