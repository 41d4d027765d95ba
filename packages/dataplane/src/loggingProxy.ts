import { type JsonObject, keptText } from "@isthmus/core";
import type { Node } from "./gen/envoy/config/core/v3/base_pb.ts";

/** Who a proxy says it is. Nothing of it is proven: the port is open to whatever runs in the cluster. */
export interface LoggingProxy {
  readonly podName: string;
  readonly namespace: string;
  /** What the pod belongs to, by Istio's metadata; the pod itself where the proxy does not say. */
  readonly workloadName: string;
  /** The address in its node id; "" without one. */
  readonly address: string;
}

/**
 * What a node says of itself: by the metadata that Istio's agent writes, or else by the id `sidecar~<ip>~<pod>.<ns>~<domain>`. Undefined:
 * neither names a pod. Texts longer than a Kubernetes name count as not there.
 */
export function proxyOf(node: Node | undefined): LoggingProxy | undefined {
  const [type, address = "", pod = ""] = (node?.id ?? "").split("~");
  const isIstio = type === "sidecar" || type === "router";
  const dot = pod.lastIndexOf(".");
  const metadata = node?.metadata ?? {};
  const podName = named(metadata, "NAME") ?? (isIstio ? nameIn(pod.slice(0, dot)) : undefined);
  const namespace = named(metadata, "NAMESPACE") ?? (isIstio ? nameIn(pod.slice(dot + 1)) : undefined);
  if (podName === undefined || namespace === undefined) return undefined;
  return {
    podName,
    namespace,
    workloadName: named(metadata, "WORKLOAD_NAME") ?? ownerIn(metadata) ?? podName,
    address: isIstio && address.length <= LONGEST_ADDRESS ? keptText(address) : "",
  };
}

/** `kubernetes://apis/apps/v1/namespaces/<ns>/deployments/<name>`. */
function ownerIn(metadata: JsonObject): string | undefined {
  const owner = metadata["OWNER"];
  return typeof owner === "string" ? nameIn(owner.slice(owner.lastIndexOf("/") + 1)) : undefined;
}

function named(metadata: JsonObject, key: string): string | undefined {
  const value = metadata[key];
  return typeof value === "string" ? nameIn(value) : undefined;
}

/** A name as Kubernetes allows it: nothing else reaches a terminal or a key. It is kept longer than what it was cut from. */
function nameIn(text: string): string | undefined {
  return text.length <= LONGEST_NAME && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text) ? keptText(text) : undefined;
}

const LONGEST_NAME = 253;
// IPv6 with an IPv4 address and a zone.
const LONGEST_ADDRESS = 64;
