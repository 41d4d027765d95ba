import {
  AuthorizationPolicy,
  DestinationRule,
  GRPCRoute,
  HTTPRoute,
  PeerAuthentication,
  rootNamespaceOf,
  VirtualService,
} from "@isthmus/api";
import { mergeTranslations } from "../inputs.ts";
import type { MeshTranslator } from "../meshTranslator.ts";
import { istioAccessVerdict } from "./access/accessVerdict.ts";
import { trustDomainOf } from "./access/trustDomainOf.ts";
import { accessLogsOf } from "./accessLogs/accessLogs.ts";
import { evaluatePolicies } from "./conflicts/conflicts.ts";
import { istioDestinationEffect } from "./destinationEffect.ts";
import { translateIstioDestination } from "./istio.ts";
import { findingsOfRules, referencesOfRules } from "./policyFields.ts";
import { policiesBehind } from "./routes/policiesBehind.ts";
import { requestFindings } from "./routes/requestFindings.ts";
import { allowsHeaderOperators } from "./routes/routeContext.ts";
import { sidecarFor } from "./sidecars.ts";
import { hostsOf } from "./userObjects.ts";
import { outlierFindings } from "./virtualDestination/outliers.ts";
import { evaluateVirtualPolicies } from "./virtualDestination/policyVerdicts.ts";
import { translateVirtualDestination } from "./virtualDestination/virtualDestination.ts";
import { objectsAtHome } from "./virtualMesh/federation.ts";
import { federationRefusals, meshesThatResolve } from "./virtualMesh/federationRefusals.ts";
import { federationWithheld } from "./virtualMesh/federationWithheld.ts";
import { eastWestGateways, notedGateways, withoutNotedGateways } from "./virtualMesh/gatewaySelection.ts";
import { rootSecretOf } from "./virtualMesh/rootSecret.ts";
import { translateIstioMesh } from "./virtualMesh/virtualMesh.ts";
import { virtualMeshFindings } from "./virtualMesh/virtualMeshFindings.ts";
import { wasmFiltersOf } from "./wasm/wasmFilters.ts";

/** Istio. */
export const istioTranslator: MeshTranslator = {
  type: "istio",
  displayName: "an Istio mesh",
  translateDestination: translateIstioDestination,
  translateMesh: translateIstioMesh,
  translateVirtualMesh: rootSecretOf,
  translateVirtualDestination,
  translateWorkload: (inputs) => mergeTranslations([sidecarFor(inputs), accessLogsOf(inputs), wasmFiltersOf(inputs)]),
  requestFindings,
  ruleFindings: (rules, context) => findingsOfRules(rules, { allowsHeaderOperators: allowsHeaderOperators(context) }),
  virtualMeshFindings,
  virtualDestinationFindings: outlierFindings,
  referencesOf: referencesOfRules,
  policyVerdicts: evaluatePolicies,
  virtualPolicyVerdicts: evaluateVirtualPolicies,
  hasSubsets: true,
  federation: {
    refusals: federationRefusals,
    withheld: federationWithheld,
    meshesThatResolve,
    objectsAtHome,
    eastWestGateways,
    notedGateways,
    withoutNotedGateways,
  },
  userObjects: { kinds: [VirtualService, DestinationRule, HTTPRoute, GRPCRoute], hostsOf },
  userAccess: { kind: AuthorizationPolicy, others: [PeerAuthentication], rootNamespaceOf },
  trustDomainOf,
  effectOf: istioDestinationEffect,
  accessVerdict: istioAccessVerdict,
  policiesBehind,
  accessKinds: [AuthorizationPolicy.kind],
};
