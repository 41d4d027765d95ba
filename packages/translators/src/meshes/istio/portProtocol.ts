/** What Istio reads of a port of a Service. */
export interface PortHints {
  readonly port?: number;
  readonly name?: string;
  /** Of the transport; TCP by default. */
  readonly protocol?: string;
  readonly appProtocol?: string;
}

/** What the proxies of a mesh do with a port; `detected`: HTTP where the first bytes are HTTP, else TCP. */
export type PortFamily = "HTTP" | "TLS" | "TCP" | "UDP" | "detected";

// Source: istio.io/istio, pkg/config/protocol/instance.go, Parse: those that a Service can ask for.
const PROTOCOLS: ReadonlyMap<string, readonly [protocol: string, family: PortFamily]> = new Map([
  ["tcp", ["TCP", "TCP"]],
  ["udp", ["UDP", "UDP"]],
  ["grpc", ["GRPC", "HTTP"]],
  ["grpc-web", ["GRPC-Web", "HTTP"]],
  ["http", ["HTTP", "HTTP"]],
  ["http_proxy", ["HTTP_PROXY", "HTTP"]],
  ["http2", ["HTTP2", "HTTP"]],
  ["https", ["HTTPS", "TLS"]],
  ["tls", ["TLS", "TLS"]],
  ["mongo", ["Mongo", "TCP"]],
  ["redis", ["Redis", "TCP"]],
  ["mysql", ["MySQL", "TCP"]],
]);

// Kubernetes' own names, which count in appProtocol alone and in these letters alone.
const KUBERNETES_NAMES: ReadonlyMap<string, string> = new Map([
  ["kubernetes.io/h2c", "http2"],
  ["kubernetes.io/ws", "http"],
  ["kubernetes.io/wss", "https"],
]);

/** Ports on which servers speak first, as they do with SMTP, DNS, MySQL and MongoDB: there nothing is detected. */
const NEVER_DETECTED: ReadonlySet<number> = new Set([25, 53, 3306, 27017]);

/**
 * The protocol of a Service's port in Istio's words; "" where Istio detects it, as ServiceEntries say that too; undefined for a transport
 * that no proxy carries, such as SCTP. Source: istio.io/istio, pkg/config/kube/conversion.go, ConvertProtocol.
 */
export function portProtocol(hints: PortHints): string | undefined {
  return selected(hints)?.[0];
}

/** What proxies do with a Service's port; undefined for a transport that no proxy carries. */
export function portFamily(hints: PortHints): PortFamily | undefined {
  return selected(hints)?.[1];
}

function selected({ port = 0, name = "", protocol = "TCP", appProtocol }: PortHints): readonly [string, PortFamily] | undefined {
  if (protocol !== "TCP" && protocol !== "UDP") return undefined;
  const [udp, tcp] = [PROTOCOLS.get("udp"), PROTOCOLS.get("tcp")];
  if (protocol === "UDP") return udp;
  const hint = (appProtocol ? (KUBERNETES_NAMES.get(appProtocol) ?? appProtocol) : name).toLowerCase();
  const word = hint.startsWith("grpc-web") ? "grpc-web" : (hint.split("-", 1)[0] ?? "");
  return PROTOCOLS.get(word) ?? (NEVER_DETECTED.has(port) ? tcp : DETECTED);
}

const DETECTED = ["", "detected"] as const;
