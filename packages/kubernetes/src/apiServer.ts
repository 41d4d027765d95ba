import type { Duplex } from "node:stream";
import type { Clock } from "@isthmus/core";
import { type Connection, connectionTo } from "./connection.ts";
import type { Kubeconfig } from "./kubeconfig.ts";
import type { PodPort } from "./podPort.ts";
import { call, exchange, readResponse } from "./request.ts";
import { errorOf } from "./statusError.ts";

/** Something that a user may want to do to objects of a type. */
export interface Permission {
  readonly verb: string;
  /** "" for the core group. */
  readonly group: string;
  readonly resource: string;
  /** Default: all namespaces. */
  readonly namespace?: string;
}

export interface LogOptions {
  readonly namespace: string;
  readonly pod: string;
  readonly container?: string;
  /** Continues until the container ends or the signal says so. */
  readonly follow: boolean;
  /** So many lines of what is there. */
  readonly tailLines: number;
}

/** What an API server answers about itself, its user and its pods, beside objects. Every method rejects with ClusterError. */
export interface ApiServer {
  /** Its address, for messages. */
  readonly address: string;
  /** Such as `v1.31.2`. */
  version(signal?: AbortSignal): Promise<string>;
  /** How far its clock is ahead of this machine's, in milliseconds, by the date of an answer, which is of whole seconds. Undefined: it gives none. */
  clockAheadMs(signal?: AbortSignal): Promise<number | undefined>;
  /** Whether the kubeconfig's user has a permission. */
  isAllowed(permission: Permission, signal?: AbortSignal): Promise<boolean>;
  /** What a container wrote, as it comes. */
  podLog(options: LogOptions, signal: AbortSignal): AsyncIterable<string>;
  /** A connection to a port of a pod, from the pod's own loopback interface. What goes wrong once it is open destroys it with ClusterError. */
  connectToPod(to: PodPort, signal: AbortSignal): Promise<Duplex>;
}

/** Of what an API server says of itself: builds from source say v0.0.0-master and all the same which minor version they are. */
export function versionIn(said: unknown): string {
  const { gitVersion, major, minor } = (said ?? {}) as {
    readonly gitVersion?: unknown;
    readonly major?: unknown;
    readonly minor?: unknown;
  };
  const isRelease = typeof gitVersion === "string" && !gitVersion.startsWith("v0.0.0");
  if (isRelease) return gitVersion;
  if (typeof major === "string" && typeof minor === "string" && /^\d+$/.test(major) && /^\d+\+?$/.test(minor))
    return `v${major}.${minor.replace("+", "")}.0`;
  return typeof gitVersion === "string" ? gitVersion : "unknown";
}

/** Nothing is sent before the first call. */
export function apiServerOf(options: { readonly kubeconfig: Kubeconfig; readonly clock: Clock; readonly silenceMs: number }): ApiServer {
  const connection = connectionTo(options);
  const { clock } = options;
  return {
    address: connection.server,
    async version(signal) {
      return versionIn(await call(connection, { method: "GET", path: "/version" }, signal));
    },
    clockAheadMs: (signal) => clockAheadMs(connection, clock, signal),
    isAllowed: (permission, signal) => isAllowed(connection, permission, signal),
    podLog: (log, signal) => podLog(connection, log, signal),
    connectToPod: async (to, signal) => {
      // Few commands need it.
      const { connectToPod } = await import("./podPort.ts");
      return connectToPod({ connection, handshakeMs: options.silenceMs }, to, signal);
    },
  };
}

async function clockAheadMs(
  connection: Connection,
  clock: Pick<Clock, "now">,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const request = { method: "GET", path: "/version" } as const;
  const began = clock.now();
  const answer = await exchange(connection, request, signal);
  const here = (began + clock.now()) / 2;
  if (answer.status >= 300) throw errorOf(answer, request);
  const there = Date.parse(answer.headers.date ?? "");
  // In the middle of its second.
  return Number.isNaN(there) ? undefined : there + 500 - here;
}

async function isAllowed(connection: Connection, permission: Permission, signal: AbortSignal | undefined): Promise<boolean> {
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: permission },
  };
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const { status } = (await call(connection, { method: "POST", path, body }, signal)) as {
    readonly status?: { readonly allowed?: unknown };
  };
  return status?.allowed === true;
}

async function* podLog(
  connection: Connection,
  { namespace, pod, container, follow, tailLines }: LogOptions,
  signal: AbortSignal,
): AsyncIterable<string> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`;
  const query = { follow: String(follow), tailLines: String(tailLines), ...(container === undefined ? {} : { container }) };
  const request = { method: "GET", path, query, streamIdleMs: LOG_IDLE_MS } as const;
  const response = await connection.open(request, signal);
  if ((response.statusCode ?? 0) >= 300) throw errorOf(await readResponse(response, connection, signal), request);
  response.setEncoding("utf8");
  for await (const chunk of response) yield chunk as string;
}

// A quiet program writes nothing for hours.
const LOG_IDLE_MS = 24 * 3_600_000;
