export { type AgentLinkOptions, type RunningAgentLink, startAgentLink } from "./agentLink.ts";
export { problemOfService } from "./bounds.ts";
export type { Acceptor, AgentStreamHandler, Connector, Peer, Stream, StreamEnd, StreamHandler } from "./connection.ts";
export { type Hash, hashOf, hexOf, minus, plus, ZERO } from "./digest.ts";
export type {
  Acknowledgement,
  AgentInfo,
  AgentLink,
  AgentLinkHandler,
  AgentService,
  DeleteRequest,
  DeletionCause,
  DeletionEvidence,
  DesiredUpdate,
  LinkState,
  Notices,
  Observation,
  PendingCode,
  Rejection,
  ServerLink,
  ServerLinkHandler,
  Withheld,
} from "./link.ts";
export { isConfirmation, isHeldCode, isPendingCode } from "./link.ts";
export type { Query } from "./queries.ts";
export { RelayError } from "./relayError.ts";
export type { Quota, QuotaExcess, ReportFilter } from "./reportFilter.ts";
export { startServerLink } from "./serverLink.ts";
export type { RunningServerLink, ServerLinkOptions } from "./serverLinkOptions.ts";
export { MODES } from "./wire.ts";
