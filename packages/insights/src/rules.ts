import type { Rule } from "./rule.ts";
import { accountUnknown, everybodyShutOut, servicesUnguarded, sidecarsCompete } from "./rules/access.ts";
import { authorizationSelectsNothing, principalUnknown, sourceNamespaceEmpty } from "./rules/authorizationPolicies.ts";
import {
  certificateEnds,
  certificateFailed,
  controlPlaneOutdated,
  podsOutdated,
  rootsDiffer,
  virtualMeshCertificatesEnd,
} from "./rules/certificates.ts";
import { endpointsStuck } from "./rules/ciliumEndpoints.ts";
import { clusterIdDiffers } from "./rules/clusterIds.ts";
import {
  agentCertificateEnds,
  agentOverQuota,
  clusterAway,
  clusterLags,
  clusterReportsNothing,
  deletesHeld,
  faultsForgotten,
  trafficToAbsentClusters,
  writesNotDone,
} from "./rules/clusters.ts";
import {
  ciliumKeepsPoliciesOut,
  ciliumRefusesPolicy,
  ciliumShutsGateway,
  controlRunsAlone,
  controlScaledAway,
  hubbleScaledAway,
  istioTooOld,
} from "./rules/control.ts";
import { localityWithoutOutliers, ruleHostUnknown, subsetEmpty, subsetNowhere, subsetTwice } from "./rules/destinationRules.ts";
import { everythingExported, federatedWithoutEndpoints, portsDiffer, singleBackend, versionsApart } from "./rules/federation.ts";
import {
  gatewayHostOfAnybody,
  gatewayPortClosed,
  gatewaysCollide,
  gatewayUnknown,
  gatewayWithoutProxy,
  hostNotAtGateway,
} from "./rules/gateways.ts";
import { generatedObjectsDiffer, generatedObjectsOrphaned, twoPlanesWrite } from "./rules/generatedObjects.ts";
import { namespaceHidden } from "./rules/hiddenNamespaces.ts";
import { entriesDisagree, hostRoutedTwice } from "./rules/hostsTwice.ts";
import { proxiesOfOtherVersion } from "./rules/proxies.ts";
import { deploymentWithoutSidecar, portNameMeansNothing, servicesDisagree } from "./rules/services.ts";
import { hostsHiddenBySidecar } from "./rules/sidecars.ts";
import { storeLacksRoom } from "./rules/store.ts";
import { suppressionEnded } from "./rules/suppressions.ts";
import { mutualTlsSwitchedOff, serverNotVerified } from "./rules/tlsSettings.ts";
import { hostsAreNotResolved, trustDomainsDiffer } from "./rules/trustDomains.ts";
import { mirrorHostUnknown, routeHostUnknown, routePortUnknown } from "./rules/virtualServiceHosts.ts";
import { exportToMissing, retriesCutShort, routeNeverReached, weightsPointless } from "./rules/virtualServiceRoutes.ts";

/** Every rule, by code: a new one needs its import and a line here. */
export const RULES: readonly Rule[] = [
  exportToMissing,
  gatewayHostOfAnybody,
  subsetNowhere,
  portNameMeansNothing,
  servicesDisagree,
  deploymentWithoutSidecar,
  proxiesOfOtherVersion,
  sidecarsCompete,
  generatedObjectsDiffer,
  twoPlanesWrite,
  namespaceHidden,
  ciliumRefusesPolicy,
  suppressionEnded,
  agentCertificateEnds,
  certificateEnds,
  certificateFailed,
  rootsDiffer,
  controlPlaneOutdated,
  podsOutdated,
  virtualMeshCertificatesEnd,
  portsDiffer,
  federatedWithoutEndpoints,
  generatedObjectsOrphaned,
  clusterIdDiffers,
  versionsApart,
  everythingExported,
  trustDomainsDiffer,
  hostsAreNotResolved,
  hostsHiddenBySidecar,
  hubbleScaledAway,
  controlScaledAway,
  endpointsStuck,
  gatewaysCollide,
  gatewayWithoutProxy,
  gatewayUnknown,
  hostNotAtGateway,
  gatewayPortClosed,
  clusterAway,
  clusterReportsNothing,
  clusterLags,
  writesNotDone,
  deletesHeld,
  agentOverQuota,
  storeLacksRoom,
  localityWithoutOutliers,
  singleBackend,
  controlRunsAlone,
  routeHostUnknown,
  routePortUnknown,
  routeNeverReached,
  ruleHostUnknown,
  subsetTwice,
  subsetEmpty,
  weightsPointless,
  retriesCutShort,
  faultsForgotten,
  mirrorHostUnknown,
  trafficToAbsentClusters,
  hostRoutedTwice,
  entriesDisagree,
  everybodyShutOut,
  servicesUnguarded,
  authorizationSelectsNothing,
  principalUnknown,
  sourceNamespaceEmpty,
  mutualTlsSwitchedOff,
  serverNotVerified,
  ciliumShutsGateway,
  ciliumKeepsPoliciesOut,
  accountUnknown,
  istioTooOld,
];
