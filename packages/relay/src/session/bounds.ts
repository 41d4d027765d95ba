import { keptText } from "@isthmus/core";
import type { Ack, AgentEndpoint, Hello, ResourceRef as RefMessage, Rejection as RejectionMessage, Up } from "../gen/relay/v1/relay_pb.ts";
import type { AgentService, Rejection } from "./link.ts";
import { refBytes, rejectionFrom, rejectionMessage, textBytes } from "./wire.ts";

/** Bounds of what comes over the wire beside objects: nothing that an agent says is kept, logged or handed on at any length. */

// Kubernetes: no name is longer; an apiVersion is a group, which is a DNS name, and a version.
const MAX_NAME = 253;
const MAX_API_VERSION = MAX_NAME + 64;

/** Whether a ref can be one of a Kubernetes object, by the length of its names. */
function isShort(ref: RefMessage | undefined): boolean {
  if (ref === undefined) return true;
  const { apiVersion, kind, name, namespace, clusterName } = ref;
  return (
    apiVersion.length <= MAX_API_VERSION &&
    kind.length <= MAX_NAME &&
    name.length <= MAX_NAME &&
    namespace.length <= MAX_NAME &&
    clusterName.length <= MAX_NAME
  );
}

/** Whether no name in a report is longer than Kubernetes allows: 253 characters, and 64 more for a version behind a group. */
export function areNamesShort({ kind, upserts, deletes, withheld }: Up): boolean {
  return (
    kind.length <= MAX_API_VERSION &&
    upserts.every(({ ref }) => isShort(ref)) &&
    deletes.every(isShort) &&
    withheld.every(({ ref }) => isShort(ref))
  );
}

// A person reads the first few; the metric counts them all. What is left of a message of 1 MiB is room for nothing else.
const MAX_REFUSED_BYTES = 256 * 1024;

/** Refusals as they are sent to the agent: as many as one message may hold. */
export function rejectionMessages(rejected: readonly Rejection[]): RejectionMessage[] {
  const messages: RejectionMessage[] = [];
  let bytes = 0;
  for (const rejection of rejected) {
    bytes += refBytes(rejection.ref) + textBytes(rejection.message);
    if (bytes > MAX_REFUSED_BYTES) break;
    messages.push(rejectionMessage(rejection));
  }
  return messages;
}

/** What of an acknowledgement has come. */
export interface AckSize {
  readonly rejections: number;
  readonly textLength: number;
}

/** Beside one for each object that is desired: removals that are on hold or refused. */
const MAX_OTHER_REJECTIONS = 10_000;
// Beyond it codes alone are kept: statuses name the first few messages.
const MAX_TEXT_LENGTH = 4 * 1024 * 1024;

/** The rejections of a part of an acknowledgement, as far as there is room; `wanted`: how many objects are desired. */
export function boundedRejections(
  { rejected }: Pick<Ack, "rejected">,
  before: AckSize,
  wanted: number,
): { readonly taken: readonly Rejection[]; readonly size: AckSize } {
  const taken: Rejection[] = [];
  let { rejections, textLength } = before;
  for (const message of rejected) {
    if (rejections >= wanted + MAX_OTHER_REJECTIONS) break;
    if (!isShort(message.ref)) continue;
    const rejection = rejectionFrom(message);
    rejections++;
    textLength += rejection.message.length;
    taken.push(textLength <= MAX_TEXT_LENGTH ? rejection : { ...rejection, message: "see the agent's log for details" });
  }
  return { taken, size: { rejections, textLength } };
}

const MAX_FEATURES = 64;

/** What is too long in a hello; undefined: nothing. */
export function problemOfHello(hello: Hello): string | undefined {
  const { instance, agentVersion, agentNamespace, clusterUid, features, digests } = hello;
  const texts = { instance, agentVersion, agentNamespace, clusterUid };
  const long = Object.entries(texts).find(([, text]) => text.length > MAX_NAME);
  if (long !== undefined) return `${long[0]} has ${long[1].length} characters; the maximum is ${MAX_NAME}`;
  if (features.length > MAX_FEATURES || features.some((feature) => feature.length > MAX_NAME))
    return "it has too many features, or too long ones";
  const service = hello.agentEndpoint && problemOfService(serviceFrom(hello.agentEndpoint));
  if (service !== undefined) return service;
  return digests.some(({ kind }) => kind.length > MAX_API_VERSION) ? "names of kinds are too long" : undefined;
}

/** A Service as the other end says it. */
export function serviceFrom({ name, grpcPort, httpPort }: Pick<AgentEndpoint, "name" | "grpcPort" | "httpPort">): AgentService {
  return { name, grpcPort, ...(httpPort === 0 ? {} : { httpPort }) };
}

/**
 * What is no Service; undefined: it is one. Proxies of the agent's cluster are led to what it names, within the agent's own namespace: a name with
 * a dot would lead them elsewhere.
 */
export function problemOfService({ name, grpcPort, httpPort }: AgentService): string | undefined {
  if (name === "") return undefined;
  if (name.length > MAX_SERVICE_NAME || !SERVICE_NAME.test(name)) return "the name of its Service is not a DNS label";
  return isPort(grpcPort) && (httpPort === undefined || isPort(httpPort)) ? undefined : "a port of its Service is not one";
}

const MAX_SERVICE_NAME = 63;
const SERVICE_NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

const MAX_NAMED_KINDS = 64;

/** Names of kinds from the other end as they may be logged. */
export function namedKinds(kinds: readonly string[]): readonly string[] {
  return kinds.slice(0, MAX_NAMED_KINDS).map((kind) => keptText(kind, MAX_API_VERSION));
}
