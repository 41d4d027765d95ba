export type {
  Acknowledgement,
  AgentInfo,
  AgentLink,
  AgentLinkHandler,
  Desired,
  Evidence,
  LinkState,
  Observation,
  Rejection,
  Removal,
  ServerLink,
  ServerLinkHandler,
} from "./link.ts";
