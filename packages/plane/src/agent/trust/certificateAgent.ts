import type { Clock, Log, Owner } from "@isthmus/core";
import type { Cluster, Leadership } from "@isthmus/ports";
import type { Informer } from "../../informer/informer.ts";
import { leaderOnlyCluster, whileLeading } from "../../leader/leadership.ts";
import { writeGate } from "../writeGate.ts";
import { startCertificateLoop } from "./certificateLoop.ts";
import type { ReadLeafValidity } from "./leafRenewals.ts";
import { type OrderObjects, orderObjects } from "./orderObjects.ts";
import { type VaultAuthorityOptions, vaultAuthority } from "./vaultAuthority.ts";
import { vaultToken } from "./vaultToken.ts";

/** The agent of a cluster that the management server connects to itself (standard mode): it looks after the certificates of meshes, and nothing else. */
export interface CertificateAgent {
  /** The orders of the cluster; undefined on a replica that does not lead. */
  readonly view: Informer | undefined;
  readonly ended: Promise<void>;
}

export interface CertificateAgentOptions {
  readonly cluster: Cluster;
  /** The agent's namespace: orders, requests and keys are there. */
  readonly namespace: string;
  /** Whose objects are orders. */
  readonly owners: readonly Owner[];
  /** By the Lease that tells the server that this agent is alive. */
  readonly leadership: Leadership;
  /** Which process this is, as the Lease names it. */
  readonly identity: string;
  /** The Vault servers that sign CAs of meshes here, and how they are called. Default: none may be. */
  readonly vault?: Pick<VaultAuthorityOptions, "http" | "servers" | "accountToken">;
  /** Asks proxies how old their certificates are. Default: nobody does, and each change of roots restarts them. */
  readonly leafValidity?: ReadLeafValidity;
  /** Restarts workloads that use earlier certificates by rollouts. Default: by evictions. */
  readonly restartsByRollout?: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** Works while this replica leads, until `signal` is aborted. Nothing is carried over from one turn of leading to the next but what stands in the cluster. */
export function startCertificateAgent(options: CertificateAgentOptions, signal: AbortSignal): CertificateAgent {
  const { namespace, owners, leadership, identity, leafValidity, restartsByRollout = false, clock, random, log } = options;
  const cluster = leaderOnlyCluster(options.cluster, leadership);
  let objects: OrderObjects | undefined;

  function start(term: AbortSignal): { readonly ended: Promise<void> } {
    // What it says of orders is written in any mode, as a report of another agent is sent.
    const gate = writeGate(cluster, {
      changed: () => log.info({ cluster: cluster.name, mode: gate.mode }, "mode of this cluster read from its orders"),
      drained: () => loop.changed(),
    });
    const orders = orderObjects(
      { cluster, namespace, owners, identity, changed: () => loop.changed(), rulesChanged: gate.setRules, clock, random, log },
      term,
    );
    objects = orders;
    const vault = options.vault && vaultAuthority({ ...options.vault, namespace, tokenIn: (ref) => vaultToken(cluster, ref, term) });
    const loop = startCertificateLoop(
      { cluster: gate.cluster, namespace, internal: () => orders, vault, leafValidity, restartsByRollout, clock, log },
      term,
    );
    return { ended: Promise.all([orders.ended, loop.ended]).then(() => undefined) };
  }

  return {
    get view() {
      return leadership.isLeader ? objects?.view : undefined;
    },
    ended: whileLeading(leadership, start, signal),
  };
}
