import { abortedAfter, UsageError } from "@isthmus/core";
import type { Cluster, ClusterError, ClusterErrorCode } from "@isthmus/ports";

/** How a command learns which cluster is the management cluster. */
export interface ManagementTarget {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace: string;
  /** Milliseconds that all requests of the command may take together. Default: 60 s. */
  readonly requestTimeout?: number;
}

/** Gives access to the management cluster. */
export type Connect = (place: ManagementTarget) => Promise<Cluster>;

/** The cluster of a kubeconfig, as its current user. Throws UsageError when there is none. */
export const connectWithKubeconfig: Connect = async ({ kubeconfig: path, context, requestTimeout = REQUEST_TIMEOUT_MS }) => {
  // Loaded when it is needed: most commands need no cluster.
  const { kubernetesCluster, loadKubeconfig } = await import("@isthmus/kubernetes");
  const { systemClock } = await import("@isthmus/plane/clock");
  const kubeconfig = loadKubeconfig({ ...(path === undefined ? {} : { path }), ...(context === undefined ? {} : { context }) });
  return kubernetesCluster({ name: "", kubeconfig, clock: systemClock, random: Math.random, silenceMs: silenceOf(requestTimeout) });
};

export const REQUEST_TIMEOUT_MS = 60_000;
/** How long an API server may say nothing: a person waits, and one that works answers within a second. */
export function silenceOf(requestTimeout: number): number {
  return Math.min(15_000, requestTimeout);
}

/**
 * Does something in the management cluster. What the API server refuses, or that it does not answer, is reported in one line with its remedy:
 * it throws UsageError.
 */
export async function inManagementCluster<T>(
  place: ManagementTarget,
  connect: Connect,
  act: (cluster: Cluster, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const cluster = await connect(place);
  return answered("management cluster", place, (signal) => act(cluster, signal));
}

/** Awaits answers of an API server, which messages call `called`. Throws UsageError with the remedy when it refuses or does not answer. */
export async function answered<T>(
  called: string,
  { requestTimeout = REQUEST_TIMEOUT_MS }: Pick<ManagementTarget, "requestTimeout">,
  act: (signal: AbortSignal) => Promise<T>,
  unanswered = remedyOf("Unavailable"),
): Promise<T> {
  const { ClusterError } = await import("@isthmus/ports");
  const signal = abortedAfter(requestTimeout);
  try {
    return await act(signal);
  } catch (error) {
    if (signal.aborted && error === signal.reason)
      throw new UsageError(`${called}: no complete answer within ${requestTimeout / 1000} s: ${unanswered}`);
    if (!(error instanceof ClusterError)) throw error;
    const { NamedClusterError } = await import("./namedCluster.ts");
    throw new UsageError(error instanceof NamedClusterError ? error.message : `${called}: ${withRemedy(error)}`);
  }
}

/** What an API server refused, with what to do about it. */
export function withRemedy({ code, message, details, cause }: ClusterError): string {
  // What is wrong with the kubeconfig itself says so.
  const remedy =
    cause instanceof UsageError || isCertificateError(cause) ? "" : details.isUnknownUser === true ? RENEW_CREDENTIALS : remedyOf(code);
  return remedy === "" ? message : `${message}. ${remedy.slice(0, 1).toUpperCase()}${remedy.slice(1)}`;
}

/** The connection came about, and waiting longer does not change whose certificate it is. */
function isCertificateError(cause: unknown): boolean {
  return cause instanceof Error && /CERT|LEAF_SIGNATURE/.test(String((cause as NodeJS.ErrnoException).code));
}

/** No permission is missing: nobody is known by these credentials. */
export const RENEW_CREDENTIALS =
  "log in to the cluster again, or renew the token or certificate of the kubeconfig's user: it may have expired";

function remedyOf(code: ClusterErrorCode): string {
  switch (code) {
    case "Forbidden":
      return "use a kubeconfig whose user has these permissions (kubectl auth can-i --list shows what it has)";
    case "Unserved":
      return "select the management cluster with --context, or install the CRDs of this release in it (kubectl apply --filename deploy/crds)";
    case "Unavailable":
      return "check that kubectl reaches the API server with the same --kubeconfig and --context, or raise --request-timeout";
    default:
      return "";
  }
}
