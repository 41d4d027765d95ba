export type { CredentialStore, RelayCredentials } from "./registration/credentials.ts";
export type { JoinToken, JoinTokens } from "./registration/joinTokens.ts";
export type { Registered, Registrations } from "./registration/registrations.ts";
export {
  createServerIdentity,
  type Lifetimes,
  type MadeIdentity,
  makeIdentity,
  type Roots,
  rotateIdentity,
} from "./registration/rotation.ts";
export { DEFAULT_AUTHORITY, type ServerIdentity } from "./registration/serverIdentity.ts";
export { type GrpcConnector, type GrpcConnectorOptions, grpcConnector } from "./transport/grpcClient.ts";
export { type GrpcServer, type GrpcServerOptions, startGrpcServer } from "./transport/grpcServer.ts";
export { probeServer, type ServerToProbe } from "./transport/probe.ts";
export { type ReplicaKeys, replicaKeys } from "./transport/replicaKeys.ts";
export { type ReplicaPort, type ReplicaPortOptions, startReplicaPort } from "./transport/replicaPort.ts";
export { askReplica } from "./transport/replicaQuery.ts";
