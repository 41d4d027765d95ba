export * from "@isthmus/ports";
export { type Agent, type AgentOptions, startAgent } from "./agent/agent.ts";
export type { AgentLimits } from "./agent/limits.ts";
export { ACCESS_LOGS_TOPIC } from "./agent/observability/accessLogsTopic.ts";
export { MESH_METRICS_TOPIC } from "./agent/observability/meshMetricsTopic.ts";
export { podAddressesIn } from "./agent/observability/podAddresses.ts";
export { type MeshPod, scrapeTargets } from "./agent/observability/scrapeTargets.ts";
export { type Generation, NAMES } from "./agent/processes.ts";
export { answerQuery } from "./agent/queries.ts";
export { type AgentSecrets, agentSecrets, type ClientCredentials } from "./agent/relaySecrets.ts";
export { fetchSchema } from "./agent/schemas/schemaFetch.ts";
export { type CertificateAgent, type CertificateAgentOptions, startCertificateAgent } from "./agent/trust/certificateAgent.ts";
export type { DeletionLog, DeletionRecord } from "./apply/deletionLog.ts";
export { FIELD_MANAGER } from "./apply/ownership.ts";
export { RESUME_DELETES_TOPIC } from "./apply/resumeDeletesTopic.ts";
export { agentCertificateLifetimeMs } from "./identity/certificateLifetime.ts";
export { clusterUid } from "./identity/clusterUid.ts";
export { mirrorJoinTokens } from "./identity/joinTokenMirror.ts";
export { createJoinToken, type JoinTokenKeeper, keepJoinTokens, type NewJoinToken } from "./identity/joinTokens.ts";
export { KUBECONFIG_SECRET_TYPE } from "./identity/kubeconfigSecret.ts";
export { type ClusterRegistrations, clusterRegistrations, REPLACE, REVOKED_BEFORE, revocationOf } from "./identity/registrations.ts";
export { type KeptIdentity, keepRelayIdentity, type RelayIdentityOptions } from "./identity/relayIdentity.ts";
export { type GeneratedIdentity, RELAY_SECRETS, type RelayIdentity } from "./identity/relaySecrets.ts";
export { ensureSecret, type SecretData, secretOf, secretTexts } from "./identity/secretData.ts";
export { rotateSharedToken, secretsToJoin } from "./identity/sharedToken.ts";
export { areRootsTrustedByAll } from "./identity/trustedRoots.ts";
export type { Informer, KindState } from "./informer/informer.ts";
export { type ReflectorEvent, type ReflectorOptions, runReflector } from "./informer/reflector.ts";
export { type Election, type ElectionOptions, type ElectionTiming, startElection } from "./leader/election.ts";
export { alwaysLeader, whileLeading } from "./leader/leadership.ts";
export { type ActivitySharing, startActivitySharing } from "./replication/activitySharing.ts";
export {
  ACTIVITY_MINUTES,
  type ClusterActivity,
  type EdgeActivity,
  MOST_ACTIVITY_EDGES,
  SYNC_BOUNDS,
  type TrafficActivity,
} from "./replication/clusterActivity.ts";
export type { RunningReplica } from "./replication/replicas.ts";
export { type StoredState, type StoreReader, type StoreReaderOptions, storeReader } from "./replication/storeReader.ts";
export { agentRoles, serverRoles } from "./roles.ts";
export { systemClock } from "./runtime/systemClock.ts";
export { runTimeSliced, SLICE_MS } from "./runtime/timeSlices.ts";
export { startWorkQueue, type WorkQueue, type WorkQueueOptions } from "./runtime/workQueue.ts";
export type { FleetInsights } from "./server/insights/insightsLoop.ts";
export { type Server, startServer } from "./server/server.ts";
export type { ServerKinds, ServerOptions } from "./server/serverOptions.ts";
export { keepConnected, startConnections } from "./server/standardMode/connections.ts";
export { type StoreKeySource, storeKeys, storeKeysIn } from "./server/standardMode/storeKey.ts";
export { wasExcluded } from "./server/statuses/endpointsExcluded.ts";
export type { CertificateEntry, CertificateState, CertificateUse } from "./server/trust/certificateInventory.ts";
export type { RestartForecast } from "./server/trust/restartForecast.ts";
export type { ClusterPhase, ClusterState, SnapshotStore } from "./snapshots/snapshotStore.ts";
