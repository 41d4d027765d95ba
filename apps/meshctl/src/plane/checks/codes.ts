import type { InsightCode } from "@isthmus/insights";

/**
 * What only `check` and `precheck` find, by code: what is no insight, such as whether the server runs. All else that they find has the code, the severity and the meaning of the
 * insight. A code keeps its meaning for ever; docs/reference/meshctl.md is generated from here.
 */
export const CHECK_CODES = {
  CFG1102: "A policy, VirtualMesh or VirtualDestination is accepted, and not all of what it asks for is applied.",
  CRT1001: "The certificate of an agent has expired.",
  CRT1005: "The certificate authority of a mesh waits for its signature for more than five minutes.",
  CRT1101: "A certificate of the relay ends soon, has expired, or cannot be read.",
  CRT1102: "The join token of a cluster that waits for its agent ends soon, or has ended.",
  FED1005: "The addresses of a gateway for traffic from other clusters are private.",
  HLT1003: "The management server has not processed the last change of a policy.",
  HLT1101: "A Deployment has no available pods, or there is none.",
  PRE1001: "The version of Kubernetes is not supported.",
  PRE1002: "The user lacks a permission that the installation of an agent needs.",
  PRE1101: "No mesh was found in the cluster.",
  PRE1102: "Discovery reports a problem with the mesh.",
  PRE1103: "The mesh has the default trust domain, which meshes of other clusters have, too.",
  REL1002: "Meshes are known of a cluster that is not registered.",
  REL1006: "One cluster is registered under two names.",
  REL1007: "The version of an agent is not supported by the server.",
  REL1008: "No cluster is registered.",
  REL1009: "The clocks of a workload cluster and of the management cluster differ by more than 30 s.",
  REL1101: "An agent has not completed its full sync.",
  REL1103: "How much room Redis has is not known.",
  SEC0008: "AuthorizationPolicies name callers where no PeerAuthentication requires mutual TLS.",
  SEC1010: "An AccessPolicy restricts paths or methods of a port that is not HTTP.",
  SEC1011: "A route matches claims of tokens, and there is no RequestAuthentication that reads them.",
  SEC1014: "The management server runs without client certificates.",
  SEC1106: "An AccessPolicy allows callers of another cluster whose mesh shares no VirtualMesh with that of the destination.",
  SEC1107: "An AccessPolicy names a namespace that has no workload in a mesh.",
  UPG1002: "A resource uses a deprecated field.",
  UPG1101: "A CRD of the management plane is missing.",
} as const;

/** A code of what a check finds. */
export type CheckCode = keyof typeof CHECK_CODES | InsightCode;

/** Codes that `check` had before: of five the insight is about something else, and one is an insight by now. `-S` takes them for the new one, too. */
export const RENAMED_CODES: Readonly<Record<string, keyof typeof CHECK_CODES | "REL1012">> = {
  CRT1003: "CRT1101",
  CRT1010: "CRT1102",
  HLT1001: "HLT1101",
  REL1102: "REL1012",
  SEC1006: "SEC1106",
  SEC1007: "SEC1107",
};
