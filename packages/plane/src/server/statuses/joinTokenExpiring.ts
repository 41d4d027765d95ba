import { JOIN_TOKEN_LABEL, Secret } from "@isthmus/api";
import type { Condition, Snapshot } from "@isthmus/core";
import { decodedText } from "../../identity/secretData.ts";

/** How the join token of a cluster stands: of several the one that ends last. */
export interface JoinTokenValidity {
  /** `ENDS_SOON`: a quarter of its life is left. */
  readonly state: "VALID" | "ENDS_SOON" | "EXPIRED";
  /** Milliseconds since 1970. */
  readonly notAfter: number;
}

/** When a join token ends, in milliseconds since 1970; undefined where that cannot be read: then it opens nothing. */
export function endOfJoinToken({ data = {} }: Secret): number | undefined {
  const end = Date.parse(decodedText(data["expires"] ?? ""));
  return Number.isNaN(end) ? undefined : end;
}

/** The join tokens that are kept in Secrets of the management cluster, by cluster. `now`: milliseconds since 1970. */
export function joinTokenValidities(management: Snapshot, now: number): ReadonlyMap<string, JoinTokenValidity> {
  const found = new Map<string, JoinTokenValidity>();
  for (const secret of management.of(Secret)) {
    const clusterName = secret.metadata.labels?.[JOIN_TOKEN_LABEL];
    const notAfter = clusterName === undefined ? undefined : endOfJoinToken(secret);
    if (clusterName === undefined || notAfter === undefined || notAfter <= (found.get(clusterName)?.notAfter ?? 0)) continue;
    found.set(clusterName, { state: validityOf(secret, notAfter, now), notAfter });
  }
  return found;
}

function validityOf({ metadata }: Secret, notAfter: number, now: number): JoinTokenValidity["state"] {
  if (now >= notAfter) return "EXPIRED";
  const created = Date.parse(metadata.creationTimestamp ?? "");
  const lifetimeMs = Number.isNaN(created) ? USUAL_LIFETIME_MS : notAfter - created;
  return now >= notAfter - lifetimeMs / 4 ? "ENDS_SOON" : "VALID";
}

/** What a KubernetesCluster says of its join token. `isNeeded`: no agent can connect without one. */
export function joinTokenExpiring(
  clusterName: string,
  token: JoinTokenValidity | undefined,
  { isNeeded }: { readonly isNeeded: boolean },
): readonly Condition[] {
  if (token === undefined) return [];
  const type = "JoinTokenExpiring";
  const { state, notAfter } = token;
  const end = new Date(notAfter).toISOString();
  if (!isNeeded) {
    // One that has ended opens nothing, and nobody waits for another one.
    if (state === "EXPIRED") return [];
    const message = `a join token that was not used is valid until ${end}, though an agent has joined: meshctl cert list names its Secret; delete it if nobody needs it`;
    return [{ type, status: "False", reason: "NotUsed", message }];
  }
  if (state === "VALID") return [{ type, status: "False", reason: "Valid", message: `the join token is valid until ${end}` }];
  const another = `create another one (meshctl cluster token create --cluster ${clusterName}) and give it to the agent`;
  return state === "EXPIRED"
    ? [{ type, status: "True", reason: "Expired", message: `the join token expired at ${end}, before an agent used it: ${another}` }]
    : [
        {
          type,
          status: "True",
          reason: "EndsSoon",
          message: `the join token ends at ${end}, and no agent has used it: start the agent before, or ${another}`,
        },
      ];
}

// Of tokens that meshctl makes by default.
const USUAL_LIFETIME_MS = 3_600_000;
