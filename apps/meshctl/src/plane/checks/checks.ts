import type { Check } from "./check.ts";
import { agentsAreConnected, nothingWaits, versionsGoTogether } from "./clusters.ts";
import { configurationIsAccepted, configurationIsApplied } from "./configuration.ts";
import { accessIsPossible, groupedMeshesExist, istioIsSupported, servicesAgree } from "./federation.ts";
import { crdsAreServed, deploymentsAreAvailable } from "./installation.ts";

/** All checks of the management plane, in the order in which they are printed: what others depend on comes first. */
export const CHECKS: readonly Check[] = [
  crdsAreServed,
  deploymentsAreAvailable,
  agentsAreConnected,
  versionsGoTogether,
  nothingWaits,
  configurationIsAccepted,
  configurationIsApplied,
  groupedMeshesExist,
  istioIsSupported,
  servicesAgree,
  accessIsPossible,
];
