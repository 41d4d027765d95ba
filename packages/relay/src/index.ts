export type { CredentialStore, Credentials } from "./registration/credentials.ts";
export type { JoinToken, JoinTokens } from "./registration/joinTokens.ts";
export type { Registered, Registrations } from "./registration/registrations.ts";
export { createServerIdentity, DEFAULT_AUTHORITY, type ServerIdentity } from "./registration/serverIdentity.ts";
export { type GrpcConnectorOptions, grpcConnector } from "./transport/grpcClient.ts";
export { type GrpcServer, type GrpcServerOptions, startGrpcServer } from "./transport/grpcServer.ts";
