import type { Mesh } from "@isthmus/api";
import type { Resource, ResourceRef } from "@isthmus/core";
import type { DestinationInputs } from "./inputs.ts";

/** Whose request it is: the service account of its pods. */
export interface AccessCaller {
  readonly clusterName: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** One request, or all of a caller's requests that are like what is given. */
export interface AccessQuery {
  readonly caller: AccessCaller;
  /** On which the pods listen. */
  readonly port?: number;
  readonly method?: string;
  readonly path?: string;
}

/** What the answer depends on beside the question. */
export interface AccessFacts {
  readonly inputs: DestinationInputs;
  /** The mesh of the caller; undefined: it is in none that is known. */
  readonly callerMesh: Mesh | undefined;
  /** The objects of the mesh's `accessKinds` in the Destination's cluster, those of users too. */
  readonly objects: readonly Resource[];
}

/**
 * RESTRICTED: some of the requests, or to some of the pods. UNREACHABLE: the caller's mesh has no host for it. UNKNOWN: an object decides by something that the question
 * does not say, or that is not known.
 */
export type Verdict = "ALLOWED" | "RESTRICTED" | "DENIED" | "UNREACHABLE" | "UNKNOWN";

/** Where it is decided, in the order in which it is. PEER_TLS: without mutual TLS nothing is let in. NO_PROXY: pods have none, so that nothing decides, or the proxy of their node, ztunnel, does. */
export type DecidedAt = "FEDERATION" | "NO_PROXY" | "PEER_TLS" | "CUSTOM" | "DENY" | "ALLOW" | "NO_RULE" | "NO_OBJECT";

/** Whether a request is let in, and by what. */
export interface AccessVerdict {
  readonly verdict: Verdict;
  readonly at: DecidedAt;
  /** Objects of the mesh that decide. */
  readonly objects: readonly ResourceRef[];
  /** The AccessPolicies behind them; of NO_RULE all that bear on the Destination. */
  readonly policies: readonly ResourceRef[];
  /** Whether the caller has an identity there: without mutual TLS it is nobody. */
  readonly hasIdentity: boolean;
}
