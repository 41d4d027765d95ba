import { accessIsPossible, callersAreKnown, callersAreTrusted, restrictionsAreOfHttp, servicesAreGuarded } from "./access.ts";
import { CATEGORIES, type CategoryWord, type Check } from "./check.ts";
import { agentsAreConnected, clustersAreRegistered, nothingWaits, versionsGoTogether } from "./clusters.ts";
import { configurationIsAccepted, configurationIsApplied, nothingElseIsFound } from "./configuration.ts";
import { fieldsAreCurrent } from "./deprecated.ts";
import { controlPlanesAreThere, exportsAreMeant, gatewaysAreReachable, trustDomainsAreKnown } from "./federatedMeshes.ts";
import { groupedMeshesExist, istioIsSupported, servicesAgree, sharedPortsAgree } from "./federation.ts";
import { crdsAreServed, deploymentsAreAvailable } from "./installation.ts";
import { signaturesCome } from "./meshCertificates.ts";
import { agentsAreAuthenticated, relayCertificatesLast, storeHasRoom } from "./relay.ts";
import { faultsAreShort, trafficHasDestinations } from "./routes.ts";

/** All checks of the management plane, in the order in which they are printed: what others depend on comes first. */
const CHECKS: readonly Check[] = [
  crdsAreServed,
  deploymentsAreAvailable,
  relayCertificatesLast,
  agentsAreAuthenticated,
  storeHasRoom,
  agentsAreConnected,
  clustersAreRegistered,
  versionsGoTogether,
  nothingWaits,
  configurationIsAccepted,
  configurationIsApplied,
  fieldsAreCurrent,
  trafficHasDestinations,
  faultsAreShort,
  groupedMeshesExist,
  istioIsSupported,
  trustDomainsAreKnown,
  controlPlanesAreThere,
  signaturesCome,
  servicesAgree,
  sharedPortsAgree,
  gatewaysAreReachable,
  exportsAreMeant,
  accessIsPossible,
  servicesAreGuarded,
  callersAreKnown,
  callersAreTrusted,
  restrictionsAreOfHttp,
  nothingElseIsFound,
];

/** Which categories are checked: those of `only`, else all but those of `skip`. */
export interface CheckSelection {
  readonly only?: readonly CategoryWord[];
  readonly skip?: readonly CategoryWord[];
}

/** The checks to run, in the order in which they are printed; all where nothing is selected or skipped. */
export function selectedChecks({ only, skip = [] }: CheckSelection): readonly Check[] {
  const named = new Set<string>((only ?? skip).map((word) => CATEGORIES[word]));
  return CHECKS.filter(({ category }) => named.has(category) === (only !== undefined));
}
