import type { CheckCode } from "./codes.ts";

/** Which insights a check prints. What is in none is printed with its policy, or by the check for all others. */
export const INSIGHT_GROUPS = {
  store: ["REL1013"],
  clusters: ["REL1005", "REL1010", "REL1012", "CRT1002"],
  traffic: ["RTE1018"],
  faults: ["RTE1014"],
  members: ["FED1001", "FED1002"],
  versions: ["UPG1001", "FED1012"],
  services: ["FED1009", "FED1007"],
  gateways: ["FED1003", "FED1004"],
  exports: ["FED1013", "RES1002"],
  guarded: ["SEC1003"],
  callers: ["SEC1005", "SEC1016"],
} as const satisfies Readonly<Record<string, readonly CheckCode[]>>;

/** What a check finds of objects that are no policies by itself, with the meaning of the insight: it has read more of them, or less. */
export const CHECKED_OTHERWISE: ReadonlySet<string> = new Set<CheckCode>([
  // Of Destinations; the insight is of Services.
  "CFG1003",
  // In the words of a status, for what has no code of its own.
  "CFG1101",
  "CFG1103",
  "FED1006",
  // With what the server says of the connection.
  "REL1001",
  "REL1003",
  "REL1004",
  // Of endpoints; the insight is of Deployments.
  "RES1003",
  // Without the AuthorizationPolicies of users, which the rule counts.
  "SEC1001",
  "SEC1020",
]);
