/*
 * What a command reads and writes of a plane that is installed: its names, Secrets, tokens and registrations. Nothing here loads a library for
 * certificates or the loops of server and agent: a command would take twice as long to start.
 */
export { type Generation, NAMES } from "./agent/processes.ts";
export { FIELD_MANAGER } from "./apply/ownership.ts";
export { createJoinToken } from "./identity/joinTokens.ts";
export { KUBECONFIG_SECRET_TYPE } from "./identity/kubeconfigSecret.ts";
export { clusterRegistrations, REPLACE, REVOKED_BEFORE } from "./identity/registrations.ts";
export { GENERATED_SECRET, RELAY_SECRETS } from "./identity/relaySecrets.ts";
export { rotateSharedToken, secretsToJoin } from "./identity/sharedToken.ts";
export { PREVIOUS_ROOTS } from "./server/trust/earlierRoots.ts";
export { isWorkloadName, leaveAnnotation, leaveText, leftWorkloads, MOST_LEFT } from "./server/trust/leaveAnnotation.ts";
export { reissueAnnotation } from "./server/trust/reissueAnnotation.ts";
