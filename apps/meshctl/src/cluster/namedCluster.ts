import { abortedAfter } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { RENEW_CREDENTIALS } from "./managementCluster.ts";

/** An error that says already which cluster it is, and what to do. */
export class NamedClusterError extends ClusterError {}

/**
 * A cluster whose errors say which cluster it is, and what to do: where two are worked on, the API server's own words leave that
 * open. No call takes longer than a person waits: one is made of several requests, each of which an API server that hangs may use up.
 */
export function namedCluster(cluster: Cluster, name: string, longestMs = LONGEST_MS): Cluster {
  async function named<T>(given: AbortSignal | undefined, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = abortedAfter(longestMs);
    try {
      return await call(given === undefined ? limit : AbortSignal.any([given, limit]));
    } catch (error) {
      if (limit.aborted && error === limit.reason) throw unanswered(name, longestMs);
      if (!(error instanceof ClusterError)) throw error;
      throw new NamedClusterError(error.code, `${name}: ${error.message}${remedyOf(error)}`, error.details, error);
    }
  }
  return {
    ...cluster,
    servedKinds: (given) => named(given, (signal) => cluster.servedKinds(signal)),
    get: (kind, ref, given) => named(given, (signal) => cluster.get(kind, ref, signal)),
    list: (kind, options, given) => named(given, (signal) => cluster.list(kind, options, signal)),
    apply: (resource, options, given) => named(given, (signal) => cluster.apply(resource, options, signal)),
    applyStatus: (resource, options, given) => named(given, (signal) => cluster.applyStatus(resource, options, signal)),
    create: (resource, given) => named(given, (signal) => cluster.create(resource, signal)),
    update: (resource, given) => named(given, (signal) => cluster.update(resource, signal)),
    updateStatus: (resource, given) => named(given, (signal) => cluster.updateStatus(resource, signal)),
    delete: (ref, preconditions, given) => named(given, (signal) => cluster.delete(ref, preconditions, signal)),
  };
}

function unanswered(name: string, longestMs: number): NamedClusterError {
  return new NamedClusterError("Unavailable", `${name}: the API server does not answer within ${longestMs / 1000} s${UNAVAILABLE}`);
}

function remedyOf({ code, details }: ClusterError): string {
  if (details.isUnknownUser === true) return ` (${RENEW_CREDENTIALS})`;
  switch (code) {
    case "Forbidden":
      return " (select a context whose user is a cluster administrator)";
    case "Unavailable":
      return UNAVAILABLE;
    case "Unserved":
      return " (install the Gloo Mesh CRDs there, with the management plane)";
    default:
      return "";
  }
}

const UNAVAILABLE = " (check the server address of this context, and that the API server runs)";
const LONGEST_MS = 15_000;
