export { type Agent, type AgentOptions, startAgent } from "./agent/agent.ts";
export { agentAnswers } from "./agent/answers.ts";
export { type AgentSecrets, agentSecrets, type ClientCredentials } from "./agent/relaySecrets.ts";
export type { ClusterView, KindState } from "./clusterView.ts";
export { type FollowEvent, type FollowOptions, follow } from "./follow.ts";

export { FIELD_MANAGER } from "./ownership.ts";
export * from "./ports.ts";
export { agentRoles, RESUME_DELETES_TOPIC, serverRoles } from "./roles.ts";
export { ensureSecret, type SecretData } from "./secretData.ts";
export { type ClusterRegistrations, clusterRegistrations } from "./server/registrations.ts";
export { RELAY_SECRETS, type RelayIdentity, relayIdentity, relayToken } from "./server/relaySecrets.ts";
export { type Server, type ServerKinds, type ServerOptions, startServer } from "./server/server.ts";
export type { ClusterPhase, ClusterState, SnapshotStore } from "./server/snapshotStore.ts";
export { systemClock } from "./systemClock.ts";
export { startWorkQueue, type WorkQueue, type WorkQueueOptions } from "./workQueue.ts";
