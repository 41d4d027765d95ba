export { isControlPlane } from "./discovery/controlPlanes.ts";
export { isNodeProxy } from "./discovery/detectors/ambient.ts";
export { NEVER_INJECTED } from "./discovery/detectors/istioInjection.ts";
export { isIstiodPod, proxyContainer } from "./discovery/detectors/istioShape.ts";
export { istioSidecar } from "./discovery/detectors/istioSidecar.ts";
export { type KnownPlane, knownPlanesOf, lastKnownMeshesOf } from "./discovery/detectors/knownPlanes.ts";
export { lastKnownMeshOf, lastKnownMeshRefOf } from "./discovery/detectors/lastKnownMesh.ts";
export { MESH_CONFIG_FIELDS, type MeshConfigUse } from "./discovery/detectors/meshConfigFields.ts";
export { DISCOVERY_FINDINGS } from "./discovery/findings.ts";
export { type ImageVersion, imageVersion } from "./discovery/image.ts";
export { podsByController, replicaSetsByController } from "./discovery/indexes.ts";
export { infrastructureSeen, mayHoldInfrastructure } from "./discovery/infrastructure.ts";
export { lastKnownMeshChanges } from "./discovery/lastKnownMeshes.ts";
export { discoveryOwner } from "./discovery/metadata.ts";
export { byOtherController } from "./discovery/otherControllers.ts";
export { discoveryScope, isNamespaceInScope, type Scope, settingsSelectors } from "./discovery/scope.ts";
export { type AccessEvaluator, accessEvaluator } from "./effect/access.ts";
export { destinationEffect } from "./effect/destinationEffect.ts";
export { type EndpointTier, type HostKind, type Leg, type ReachableHost, reachableHosts } from "./effect/reachableHosts.ts";
export { FINDINGS, type FindingCode } from "./findings.ts";
export { memoizeRow } from "./incremental/memoizeRow.ts";
export { INPUT_FINDINGS } from "./inputFindings.ts";
export type { AccessCaller, AccessQuery, AccessVerdict, DecidedAt, Verdict } from "./meshes/access.ts";
export type { DestinationEffect, EffectValue, RouteEffect, SourceEffect } from "./meshes/effect.ts";
export { type PortFamily, type PortHints, portFamily } from "./meshes/istio/portProtocol.ts";
export { isAbout, trustBlocker } from "./meshes/istio/virtualMesh/trustProgress.ts";
export { networkingOwner } from "./meshes/outputMetadata.ts";
export { exclusionsOf } from "./pipeline/exclusions.ts";
export { translate, translateInSteps } from "./pipeline/faultIsolation.ts";
export { inForceOf } from "./pipeline/inForceOf.ts";
export { isInScope, publicationScopeOf, publicationScopeSource, rescoped } from "./pipeline/publicationScope.ts";
export { deletionCausesOf, type TranslateOptions, type Translation, type TranslationFault } from "./pipeline/translate.ts";
export { translatedFieldsOf } from "./pipeline/translatedFields.ts";
export { generationOfRoot, ROOT_GENERATION, rootGenerationOf, rootOptionsOf } from "./policy/generatedRoots.ts";
export { registrationFindings } from "./policy/ineffective.ts";
export { INFRASTRUCTURE_NAMESPACES } from "./policy/infrastructure.ts";
export type { AgeSource } from "./policy/precedence.ts";
export { selectsDestination } from "./policy/selectors.ts";
export { isTrustDomain } from "./policy/trustDomain.ts";
export { NOT_REPORTED } from "./statuses/approval.ts";
export { refusalReports } from "./statuses/delivery.ts";
export { lastKnownRequests } from "./statuses/lastKnownRequests.ts";
export { newFaults, newReports } from "./statuses/newReports.ts";
export { reportTables } from "./statuses/reportTables.ts";
export {
  changedStatuses,
  computeStatuses,
  type Delivery,
  type DeliveryState,
  type Statuses,
  statusesAfter,
  statusesOf,
  type UserObjectStatusUpdate,
} from "./statuses/statuses.ts";
