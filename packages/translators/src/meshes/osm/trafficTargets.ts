import { type AccessPolicy, HTTPRouteGroup, type Mesh, TCPRoute, TrafficTarget, type TrafficTargetSpec } from "@isthmus/api";
import { formatRef, type Output, refOf } from "@isthmus/core";
import { type Finding, reportOf, warningFinding } from "../../findings.ts";
import { userNameOf } from "../../policy/userResources.ts";
import { type AccessTranslation, enforcedAccess } from "../enforcedAccess.ts";
import type { DestinationInputs, TargetTranslation } from "../inputs.ts";
import { type OutputIdentity, originOf, outputOf } from "../outputMetadata.ts";
import { callersIn } from "./callers.ts";
import { isOsmMeshConfig } from "./meshConfig.ts";
import { requestMatches } from "./requestMatches.ts";
import { serviceAccountBehind } from "./serviceAccount.ts";

/**
 * For each AccessPolicy on a Destination: who may call its service account, and with which requests. What no target allows is refused, so
 * a policy that cannot be translated opens nothing by being left out; it stays as it was last in force.
 */
export function trafficTargetsFor(inputs: DestinationInputs): TargetTranslation {
  const { results, policies, reports } = enforcedAccess(inputs, (form) => targetsOf(form, inputs));
  const warnings = permissiveFindings(inputs);
  const told = policies.flatMap((policy) => warnings.map((finding) => reportOf(refOf(policy), finding, refOf(inputs.destination))));
  return { outputs: results.flatMap(({ result }) => result), reports: [...reports, ...told] };
}

function targetsOf(policy: AccessPolicy, inputs: DestinationInputs): AccessTranslation<readonly Output[]> {
  const { destination, mesh, workloads } = inputs;
  const account = serviceAccountBehind(destination, workloads);
  const callers = callersIn(policy, destination);
  const findings: readonly Finding[] = [...account.findings, ...callers.findings];
  if (account.subject === undefined || findings.length > 0) return { result: undefined, findings };

  const target = { destination: account.subject, sources: callers.sources };
  return { result: portsAreRules(mesh) ? outputsWithPortRules(policy, target, inputs) : outputsForOlder(policy, target, inputs), findings };
}

function permissiveFindings({ mesh, meshConfig }: DestinationInputs): readonly Finding[] {
  if (!isOsmMeshConfig(meshConfig) || meshConfig.spec?.traffic?.enablePermissiveTrafficPolicyMode !== true) return [];
  const message = `${formatRef(refOf(mesh))} allows all calls regardless of AccessPolicies: set spec.traffic.enablePermissiveTrafficPolicyMode of ${formatRef(refOf(meshConfig))} to false`;
  return [warningFinding("PermissiveMesh", message)];
}

type Target = Pick<TrafficTargetSpec, "destination" | "sources">;

/** Before OSM 0.7: a target for each port, as each has room for one. */
function outputsForOlder(policy: AccessPolicy, target: Target, inputs: DestinationInputs): readonly Output[] {
  const ports = policy.spec?.allowedPorts ?? [];
  const identity = identityOf(policy, inputs);
  const routes = routeGroup(identity, policy, HTTPRouteGroup.apiVersion);
  const targetFor = (name: string, port: number | undefined): Output => {
    const spec = { ...target, destination: { ...target.destination, ...(port === undefined ? {} : { port }) }, rules: [routes.rule] };
    return outputOf({ ...identity, name }, TrafficTarget, spec);
  };
  // A single port needs no name of its own.
  const targets =
    ports.length <= 1 ? [targetFor(identity.name, ports[0])] : ports.map((port) => targetFor(`${identity.name}.${port}`, port));
  return [routes.output, ...targets];
}

/** From OSM 0.7 on: ports are rules too. Source: SMI traffic-access v1alpha3, traffic-specs v1alpha4. */
function outputsWithPortRules(policy: AccessPolicy, target: Target, inputs: DestinationInputs): readonly Output[] {
  const ports = policy.spec?.allowedPorts ?? [];
  const identity = identityOf(policy, inputs);
  const routes = routeGroup(identity, policy, "specs.smi-spec.io/v1alpha4");
  const tcpRoutes = ports.length === 0 ? [] : [outputOf(identity, TCPRoute, { matches: { ports } })];
  const rules = [routes.rule, ...tcpRoutes.map(() => ({ kind: TCPRoute.kind, name: identity.name }))];
  const spec = { ...target, rules };
  return [routes.output, ...tcpRoutes, outputOf(identity, TARGET_WITH_PORT_RULES, spec)];
}

const TARGET_WITH_PORT_RULES = { apiVersion: "access.smi-spec.io/v1alpha3", kind: TrafficTarget.kind };

function routeGroup(identity: OutputIdentity, policy: AccessPolicy, apiVersion: string) {
  const matches = requestMatches(policy);
  return {
    output: outputOf(identity, { apiVersion, kind: HTTPRouteGroup.kind }, { matches }),
    rule: { kind: HTTPRouteGroup.kind, name: identity.name, matches: matches.map(({ name }) => name) },
  };
}

function identityOf(policy: AccessPolicy, { destination, translationContext }: DestinationInputs): OutputIdentity {
  const { name = "", namespace = "", clusterName = "" } = destination.spec?.kubeService?.ref ?? {};
  return {
    name: `${name}.${userNameOf(policy.metadata)}`,
    namespace,
    clusterName,
    origin: originOf({ translationContext, parents: [policy], annotationsOf: destination }),
  };
}

/**
 * Whether the mesh is OSM 0.7 or later, or of an unknown version: it serves no TrafficTarget that has a port, and its API server would
 * drop the port, which opens all of them. Source: the CRDs in the charts of OSM v0.6.0, v0.7.0, v0.9.0 and v1.2.4.
 */
function portsAreRules({ spec }: Mesh): boolean {
  return !/^v?0\.[0-6](\.|$)/.test(spec?.osm?.installation?.version ?? "");
}
