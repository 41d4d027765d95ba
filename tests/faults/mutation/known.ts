import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./mutant.ts";

/** A mutant of which it was once found that nothing noticed it. */
export interface KnownMutant {
  readonly name: string;
  readonly path: string;
  /** What of the source is replaced: it must be there exactly once. */
  readonly from: string;
  readonly to: string;
  /** Steps of schedules that lead there. */
  readonly focus: readonly string[];
}

/** They are killed with each run of `npm run mutate`. */
export const KNOWN: readonly KnownMutant[] = [
  {
    name: "an apply is not bound to the version that was looked at",
    path: "packages/plane/src/apply/applier.ts",
    from: "await cluster.apply(atVersionOf(latest, served), {",
    to: "await cluster.apply(served, {",
    focus: ["meddleInBetween", "putService"],
  },
  {
    name: "a delete is not bound to the version that was looked at",
    path: "packages/plane/src/apply/applier.ts",
    from: "...(resourceVersion === undefined ? {} : { resourceVersion }) },",
    to: "},",
    focus: ["meddleInBetween", "deletePolicy", "deleteService"],
  },
  {
    name: "leadership is not asked again right before a write",
    path: "packages/plane/src/leader/leadership.ts",
    from: "if (!leadership.isLeader) throw new ClusterError",
    to: "if (false) throw new ClusterError",
    focus: ["pauseLeader", "pauseAgent", "putService"],
  },
  {
    name: "an older state of the store replaces what is known",
    path: "packages/plane/src/replication/followerShare.ts",
    from: "if (isOlder(share, head.version)) return false;",
    to: "",
    focus: ["failOverStore", "replicateStore", "putService"],
  },
  {
    name: "a cluster stays synced when its agent goes",
    path: "packages/plane/src/snapshots/snapshotStore.ts",
    from: 'const phase = state.phase === "synced" ? "stale" : state.phase;',
    to: "const phase = state.phase;",
    focus: ["stopAgent", "cut"],
  },
  {
    name: "what another replica knew counts as heard by this one",
    path: "packages/plane/src/snapshots/snapshotStore.ts",
    from: 'return phase !== "unknown" && !isFollowed;',
    to: 'return phase !== "unknown";',
    focus: ["reroute", "startReplica", "putService"],
  },
  {
    name: "what another replica knew counts as synced by the agent of this one",
    path: "packages/plane/src/snapshots/snapshotStore.ts",
    from: 'const phase = state.phase === "synced" && state.isFollowed ? "stale" : state.phase;',
    to: "const phase = state.phase;",
    focus: ["reroute", "startReplica", "putService"],
  },
  {
    name: "the server never gives a silent agent up",
    path: "packages/relay/src/session/serverSession.ts",
    from: "if (isOverdue(session.liveness, now)) {",
    to: "if (false) {",
    focus: ["silence", "stopAgent"],
  },
  {
    name: "a gap between messages is taken",
    path: "packages/relay/src/session/serverUp.ts",
    from: "if (seq !== up.seq + 1) return",
    to: "if (false) return",
    focus: ["disturb", "putService"],
  },
  {
    name: "a mesh signs below the new root before all trust it",
    path: "packages/certificates/src/trust/trustPlan.ts",
    from: "if (untrusting.length > 0) return",
    to: "if (false) return",
    focus: ["putTrust", "waitForPods"],
  },
  {
    name: "a mesh ceases to trust a root below which certificates are in use",
    path: "packages/certificates/src/trust/trustPlan.ts",
    from: "if (unissued.length > 0) return",
    to: "if (false) return",
    focus: ["putTrust", "waitForPods"],
  },
  {
    name: "a request for a CA holds its private key",
    path: "packages/plane/src/agent/trust/signingRequests.ts",
    from: ': { state: "REQUESTED", request, ...base };',
    to: ': { state: "REQUESTED", request: key, ...base };',
    focus: ["putTrust", "waitForPods"],
  },
  {
    name: "pods restart though nobody has asked for it",
    path: "packages/plane/src/agent/trust/certificateLoop.ts",
    from: "order.spec?.podBounceDirective === undefined || ",
    to: "",
    focus: ["putTrust", "waitForPods"],
  },
  {
    name: "a CA that was deleted is made again while the control plane has it in memory",
    path: "packages/plane/src/agent/trust/meshAuthorities.ts",
    from: "if (roots === undefined || !isHandedOut(generations, roots)) throw",
    to: "if (false) throw",
    focus: ["deleteAuthority", "waitForPods"],
  },
  {
    name: "a CA that somebody else has put there is replaced",
    path: "packages/plane/src/agent/trust/authoritySecrets.ts",
    from: "if (record === undefined && secret.metadata",
    to: "if (false && secret.metadata",
    focus: ["putForeignAuthority", "restartIstiod", "waitForPods"],
  },
];

/** The mutant as it applies to the source of today. Throws where it does not any more: then it is to be written again. */
export function knownMutant(root: string, { name, path, from, to }: KnownMutant): Mutant {
  const source = readFileSync(join(root, path), "utf8");
  const start = source.indexOf(from);
  if (start < 0 || source.includes(from, start + 1)) throw new Error(`"${name}": ${path} does not have exactly once: ${from}`);
  const line = source.slice(0, start).split("\n").length;
  return { path, line, start, end: start + from.length, replacement: to, what: name };
}
