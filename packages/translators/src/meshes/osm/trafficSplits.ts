import { type Destination, TrafficPolicy, type TrafficPolicyRules, TrafficSplit, type WeightedDestination } from "@isthmus/api";
import { equalJson, formatRef, refOf } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../findings.ts";
import { isSilent } from "../../policy/silentRules.ts";
import { type DestinationInputs, emptyTranslation, type TargetTranslation } from "../inputs.ts";
import type { PolicyEvaluation, PolicyTarget } from "../meshTranslator.ts";
import { originOf, outputOf } from "../outputMetadata.ts";
import { evaluatedInOrder } from "../policyEvaluation.ts";

/** Which policies are in force on a Service: what SMI has words for, and the traffic shift of the first that has one. */
export function splitVerdicts(target: PolicyTarget): readonly PolicyEvaluation[] {
  const { destination } = target;
  let winner: TrafficPolicy | undefined;
  return evaluatedInOrder(target, {
    findingsOf(policy) {
      const backends = backendsOf(policy);
      const isLoser = winner !== undefined && backends.length > 0 && !equalJson(backends, backendsOf(winner));
      const taken = isLoser && winner !== undefined ? [splitTaken(winner, destination)] : [];
      return [...policyFindings(policy), ...shiftFindings(policy, destination), ...taken];
    },
    add(policy) {
      if (backendsOf(policy).length > 0) winner ??= policy;
    },
  });
}

/** The TrafficSplit of a Service: the traffic shift of its first policy that has one. SMI has no more than that to say of traffic. */
export function trafficSplitFor({ destination, trafficPolicies, translationContext }: DestinationInputs): TargetTranslation {
  const { name = "", namespace = "", clusterName = "" } = destination.spec?.kubeService?.ref ?? {};
  const winner = trafficPolicies.find((policy) => backendsOf(policy).length > 0);
  if (winner === undefined) return emptyTranslation;
  const origin = originOf({ translationContext, parents: [winner], annotationsOf: destination });
  const spec = { service: `${name}.${namespace}`, backends: backendsOf(winner) } satisfies TrafficSplit["spec"];
  return { outputs: [outputOf({ name, namespace, clusterName, origin }, TrafficSplit, spec)], reports: [] };
}

interface Backend {
  readonly service: string;
  readonly weight: number;
}

function backendsOf({ spec }: TrafficPolicy): readonly Backend[] {
  return (spec?.policy?.trafficShift?.destinations ?? []).map(({ kubeService, weight = 0 }) => ({
    service: kubeService?.name ?? "",
    weight,
  }));
}

// What the policy would do on other meshes and SMI has no words for. Leaving part of it out would send the wrong requests.
const WORDS = [
  ["corsPolicy", "cross-origin policies"],
  ["faultInjection", "fault injection"],
  ["headerManipulation", "header manipulation"],
  ["mirror", "mirroring"],
  ["retries", "retries"],
  ["requestTimeout", "request timeouts"],
] as const;

const WITHOUT_EFFECT = ["outlierDetection", "connectionPoolSettings", "mtls"] as const;

const NAMED: ReadonlySet<string> = new Set(["trafficShift", ...WORDS.map(([field]) => field), ...WITHOUT_EFFECT]);
// What a policy asks for and nothing is made of here is never silently left out.
const UNSUPPORTED = [...WORDS, ...effectiveRules().flatMap((field) => (NAMED.has(field) ? [] : [[field, field] as const]))];

/** The fields of a TrafficPolicy's rules, but for those that have no effect in any mesh. */
function effectiveRules(): readonly (keyof TrafficPolicyRules)[] {
  const { properties } = TrafficPolicy.definition.fields.spec.properties.policy;
  const names = Object.keys(properties) as readonly (keyof typeof properties)[];
  return names.filter((name) => !("unsupported" in properties[name]));
}

function policyFindings({ spec = {} }: TrafficPolicy): readonly Finding[] {
  const { policy = {}, sourceSelector = [], httpRequestMatchers = [] } = spec;
  return [
    ...UNSUPPORTED.flatMap(([field, words]) => (isSilent(field, policy[field]) ? [] : [unsupported(`spec.policy.${field}`, words)])),
    ...(sourceSelector.length === 0 ? [] : [unsupported("spec.sourceSelector", "traffic policies for some sources only")]),
    ...(httpRequestMatchers.length === 0 || isSilent("trafficShift", policy.trafficShift)
      ? []
      : [unsupported("spec.httpRequestMatchers", "traffic shifts for some requests only")]),
    ...WITHOUT_EFFECT.flatMap((field) =>
      isSilent(field, policy[field])
        ? []
        : [warningFinding("PolicyUnsupported", `spec.policy.${field}: has no effect on a destination in Open Service Mesh: ${REMEDY}`)],
    ),
  ];
}

function shiftFindings({ spec }: TrafficPolicy, destination: Destination): readonly Finding[] {
  return (spec?.policy?.trafficShift?.destinations ?? []).flatMap((entry, i) =>
    backendFindings(entry, destination, `spec.policy.trafficShift.destinations[${i}]`),
  );
}

function backendFindings({ kubeService }: WeightedDestination, destination: Destination, path: string): readonly Finding[] {
  if (kubeService === undefined) return [unsupported(path, "traffic shifts to anything except Kubernetes services")];
  const ref = destination.spec?.kubeService?.ref;
  return [
    ...(Object.keys(kubeService.subset ?? {}).length === 0 ? [] : [unsupported(`${path}.kubeService.subset`, "subsets")]),
    ...((kubeService.port ?? 0) === 0 ? [] : [unsupported(`${path}.kubeService.port`, "traffic shifts to a single port")]),
    ...(kubeService.clusterName === ref?.clusterName
      ? []
      : [unsupported(`${path}.kubeService.clusterName`, "traffic shifts to other clusters")]),
    ...(kubeService.namespace === ref?.namespace
      ? []
      : [unsupported(`${path}.kubeService.namespace`, "traffic shifts to other namespaces")]),
  ];
}

function unsupported(path: string, words: string): Finding {
  return invalidFinding("PolicyUnsupported", `${path}: Open Service Mesh does not support ${words}: ${REMEDY}`);
}

function splitTaken(winner: TrafficPolicy, destination: Destination): Finding {
  return invalidFinding(
    "TrafficSplitTaken",
    `spec.policy.trafficShift: ${formatRef(refOf(destination))} already has the traffic shift of ${formatRef(refOf(winner))}, and Open Service Mesh supports one for each service: remove one of them`,
  );
}

const REMEDY = "remove it, or narrow the destinationSelector";
