export { type AgentLinkOptions, type RunningAgentLink, startAgentLink } from "./agentLink.ts";
export type { Acceptor, AgentStreamHandler, Connector, Peer, Stream, StreamEnd, StreamHandler } from "./connection.ts";
export { type Hash, hashOf, hexOf, minus, plus, ZERO } from "./digest.ts";
export type { Door, Excess, Quota } from "./door.ts";
export type {
  Acknowledgement,
  AgentInfo,
  AgentLink,
  AgentLinkHandler,
  Desired,
  Evidence,
  LinkState,
  Notices,
  Observation,
  Rejection,
  Removal,
  ServerLink,
  ServerLinkHandler,
  Why,
  Withheld,
} from "./link.ts";
export type { Question } from "./questions.ts";
export { RelayError } from "./relayError.ts";
export { startServerLink } from "./serverLink.ts";
export type { RunningServerLink, ServerLinkOptions } from "./serverLinkOptions.ts";
