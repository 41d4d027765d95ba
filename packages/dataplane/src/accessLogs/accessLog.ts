import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { isSecretHeader, keptText } from "@isthmus/core";
import type { Address } from "../gen/envoy/config/core/v3/address_pb.ts";
import { RequestMethodSchema } from "../gen/envoy/config/core/v3/base_pb.ts";
import {
  type AccessLogCommon,
  type HTTPAccessLogEntry,
  HTTPAccessLogEntrySchema,
  TCPAccessLogEntrySchema,
} from "../gen/envoy/data/accesslog/v3/accesslog_pb.ts";
import { type ResponseFlag, responseFlagsOf } from "../responseFlags.ts";
import type { StoredEntry } from "./entryStore.ts";

/** A pod that the cluster gave an address to. */
export interface PodAtAddress {
  readonly namespace: string;
  readonly name: string;
  readonly workloadName: string;
}

/** The pods that have an address now: several where they share that of their node. */
export type PodsAt = (address: string) => readonly PodAtAddress[];

/** One end of a request, as far as it is known. */
export interface RequestEnd {
  readonly namespace?: string;
  /** A workload, or of a destination a Service or host. */
  readonly name?: string;
  readonly podName?: string;
  readonly address?: string;
  /** The URI in its certificate, such as `spiffe://cluster.local/ns/bookinfo/sa/bookinfo-productpage`. */
  readonly identity?: string;
}

/** One entry of an access log, as it leaves the agent: JSON, a few hundred bytes, without secrets. */
export interface AccessLog {
  /** ISO 8601. */
  readonly time: string;
  readonly protocol: "http" | "tcp";
  readonly logName: string;
  /** By which side it was logged. */
  readonly direction: "inbound" | "outbound" | "unknown";
  readonly proxy: { readonly namespace: string; readonly workloadName: string; readonly podName: string };
  /** False: it did not come from an address that the cluster is known to have given to that pod. */
  readonly verified: boolean;
  readonly source: RequestEnd;
  readonly destination: RequestEnd;
  readonly method?: string;
  readonly authority?: string;
  /** Without the query, which may hold secrets. */
  readonly path?: string;
  readonly status?: number;
  readonly statusDetails?: string;
  readonly flags: readonly ResponseFlag[];
  readonly failure?: string;
  /** Milliseconds. */
  readonly durationMs?: number;
  /** Milliseconds until the destination had answered. */
  readonly upstreamMs?: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  readonly requestId?: string;
  /** Those that the record asked for; values that may be secrets are left out. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseTrailers?: Readonly<Record<string, string>>;
  /** Headers were cut, because the entry was too large. */
  readonly cut?: true;
}

/** The largest entry that is kept, in bytes as Envoy encodes it. */
const MAX_ENTRY_BYTES = 16 * 1024;

/** An entry within `MAX_ENTRY_BYTES`: of a larger one headers and the like are cut. Undefined where that is not enough. */
export function fittedEntry(bytes: Uint8Array, protocol: StoredEntry["protocol"]): { bytes: Uint8Array; cut: boolean } | undefined {
  // A copy of its own: the message that it came in, and Node's pool of small buffers, are let go.
  if (bytes.length <= MAX_ENTRY_BYTES) return { bytes: new Uint8Array(bytes), cut: false };
  if (protocol === "tcp") return undefined;
  const { request, response, commonProperties, protocolVersion, $typeName } = fromBinary(HTTPAccessLogEntrySchema, bytes);
  const entry: HTTPAccessLogEntry = { $typeName, protocolVersion };
  if (request !== undefined) {
    entry.request = { ...request, requestHeaders: {}, referer: "", originalPath: "", path: keptText(request.path, LONGEST_TEXT) };
  }
  if (response !== undefined) entry.response = { ...response, responseHeaders: {}, responseTrailers: {} };
  if (commonProperties !== undefined) {
    entry.commonProperties = { ...commonProperties, filterStateObjects: {}, customTags: {}, metadata: undefined };
  }
  const fitted = toBinary(HTTPAccessLogEntrySchema, entry);
  return fitted.length > MAX_ENTRY_BYTES ? undefined : { bytes: new Uint8Array(fitted), cut: true };
}

/** Decodes an entry. Undefined: it is malformed. */
export function accessLogOf(stored: StoredEntry, podsAt: PodsAt): AccessLog | undefined {
  try {
    return stored.protocol === "http" ? httpLogOf(stored, podsAt) : tcpLogOf(stored, podsAt);
  } catch {
    // Anyone who can reach the port can send it.
    return undefined;
  }
}

function httpLogOf(stored: StoredEntry, podsAt: PodsAt): AccessLog {
  const { request, response, commonProperties } = fromBinary(HTTPAccessLogEntrySchema, stored.bytes);
  const authority = short(request?.authority);
  const [path, query] = (request?.originalPath || request?.path || "").split("?", 2);
  return {
    ...commonLogOf(stored, { common: commonProperties, authority, podsAt }),
    ...(request === undefined ? {} : { method: RequestMethodSchema.value[request.requestMethod]?.name ?? "" }),
    ...(authority === undefined ? {} : { authority }),
    ...(path === undefined || path === "" ? {} : { path: `${keptText(path, LONGEST_TEXT)}${query === undefined ? "" : "?…"}` }),
    ...(response?.responseCode === undefined ? {} : { status: response.responseCode }),
    ...optional("statusDetails", short(response?.responseCodeDetails)),
    ...optional("requestId", short(request?.requestId)),
    receivedBytes: Number(request?.requestBodyBytes ?? 0n),
    sentBytes: Number(response?.responseBodyBytes ?? 0n),
    ...optional("requestHeaders", headersOf(request?.requestHeaders)),
    ...optional("responseHeaders", headersOf(response?.responseHeaders)),
    ...optional("responseTrailers", headersOf(response?.responseTrailers)),
  };
}

function tcpLogOf(stored: StoredEntry, podsAt: PodsAt): AccessLog {
  const { commonProperties, connectionProperties } = fromBinary(TCPAccessLogEntrySchema, stored.bytes);
  return {
    ...commonLogOf(stored, { common: commonProperties, authority: undefined, podsAt }),
    receivedBytes: Number(connectionProperties?.receivedBytes ?? 0n),
    sentBytes: Number(connectionProperties?.sentBytes ?? 0n),
  };
}

interface Decoded {
  readonly common: AccessLogCommon | undefined;
  readonly authority: string | undefined;
  readonly podsAt: PodsAt;
}

function commonLogOf(
  { proxy, logName, protocol, verified, cut }: StoredEntry,
  { common, authority, podsAt }: Decoded,
): Omit<AccessLog, "receivedBytes" | "sentBytes"> {
  const { workloadName, podName, namespace } = proxy;
  const own: RequestEnd = { namespace, name: workloadName, podName };
  const cluster = common?.upstreamCluster ?? "";
  const direction = cluster.startsWith("inbound|") ? "inbound" : cluster.startsWith("outbound|") ? "outbound" : "unknown";
  const identity = short(common?.tlsProperties?.peerCertificateProperties?.subjectAltName.find(({ san }) => san.case === "uri")?.san.value);
  const caller = {
    ...peerAt(ipOf(common?.downstreamDirectRemoteAddress ?? common?.downstreamRemoteAddress), podsAt),
    ...optional("identity", identity),
  };
  const callee = { ...peerAt(ipOf(common?.upstreamRemoteAddress), podsAt), ...serviceIn(cluster, authority) };
  return {
    time: timeOf(common?.startTime),
    protocol,
    logName,
    direction,
    proxy: { namespace, workloadName, podName },
    verified,
    // What is logged on the way in was asked for by somebody else; on the way out, by the pod itself, or through a gateway.
    source: direction === "outbound" && (caller.podName === undefined || caller.podName === podName) ? own : caller,
    destination: direction === "inbound" ? own : callee,
    flags: responseFlagsOf(common?.responseFlags),
    ...optional("failure", short(common?.upstreamTransportFailureReason)),
    ...optional("durationMs", millisOf(common?.duration ?? common?.timeToLastDownstreamTxByte)),
    ...optional("upstreamMs", millisOf(common?.timeToLastUpstreamRxByte)),
    ...(cut ? { cut: true as const } : {}),
  };
}

function optional<K extends string, V>(name: K, value: V | undefined): { readonly [name in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [name in K]?: V };
}

function peerAt(address: string | undefined, podsAt: PodsAt): RequestEnd {
  if (address === undefined) return {};
  const [pod, other] = podsAt(address);
  return pod === undefined || other !== undefined
    ? { address }
    : { namespace: pod.namespace, name: pod.workloadName, podName: pod.name, address };
}

/** Of `outbound|9080|v1|reviews.bookinfo.svc.cluster.local` the Service; without such a cluster the host that was asked for. */
function serviceIn(cluster: string, authority: string | undefined): RequestEnd {
  const host = short(cluster.startsWith("outbound|") ? cluster.slice(cluster.lastIndexOf("|") + 1) : authority?.replace(/:\d+$/, ""));
  if (host === undefined) return {};
  const [name, namespace, svc] = host.split(".");
  return svc === "svc" && name !== undefined && namespace !== undefined ? { name, namespace } : { name: host };
}

function ipOf(address: Address | undefined): string | undefined {
  return address?.address.case === "socketAddress" ? short(address.address.value.address) : undefined;
}

function timeOf(time: Timestamp | undefined): string {
  const ms = time === undefined ? 0 : Number(time.seconds) * 1000 + Math.trunc(time.nanos / 1e6);
  // What is no date is shown as the beginning of time, as Envoy sends none.
  return new Date(Number.isFinite(ms) && Math.abs(ms) <= LAST_DATE ? ms : 0).toISOString();
}

function millisOf(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : Number(duration.seconds) * 1000 + Math.round(duration.nanos / 1e5) / 10;
}

function headersOf(headers: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(headers ?? {}).map(([name, value]) => {
    const lower = name.toLowerCase();
    return [keptText(lower, LONGEST_TEXT), isSecretHeader(lower) ? "(masked)" : keptText(value, LONGEST_TEXT)] as const;
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function short(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : keptText(text, LONGEST_TEXT);
}

const LONGEST_TEXT = 1_024;
// Of JavaScript.
const LAST_DATE = 8.64e15;
