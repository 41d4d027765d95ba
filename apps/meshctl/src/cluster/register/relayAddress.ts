import { isIP } from "node:net";
import { KIND_NODE_IMAGE, Node, Service } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { type Generation, NAMES } from "@isthmus/plane/installation";
import type { Cluster } from "@isthmus/ports";

/** Where agents reach the management server. */
export interface RelayAddress {
  /** A host name, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The name in the server's certificate. */
  readonly authority: string;
  /** Where the address is from, for people. */
  readonly source: string;
}

/** As a flag or an environment variable of the agent takes it: `10.0.0.1:9900`, `[fd00::1]:9900`, `relay.example.com:9900`. */
export function addressText({ host, port }: Pick<RelayAddress, "host" | "port">): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** The port of the relay. Source: decisions on ports. */
const RELAY_PORT = 9900;

/** Reads host and port of a flag; without a port, that of the relay. Throws UsageError. */
export function readAddress(text: string): Pick<RelayAddress, "host" | "port"> {
  const bare = isIP(text) === 6 ? `[${text}]` : text;
  // Of a scheme that has no port of its own: one that is written is kept.
  const url = URL.canParse(`relay://${bare}`) ? new URL(`relay://${bare}`) : undefined;
  const host = url?.hostname.replace(/^\[|\]$/g, "") ?? "";
  const isWhole = url !== undefined && [url.username, url.password, url.pathname, url.search, url.hash].every((part) => part === "");
  if (!isWhole || url.port === "0" || !isHost(host)) {
    throw new UsageError(`--relay-server-address ${text}: must be HOST or HOST:PORT, with an IPv6 address in brackets: [fd00::1]:9900`);
  }
  return { host, port: url.port === "" ? RELAY_PORT : Number(url.port) };
}

/** Whether a text is an IP address or a DNS name. */
export function isHost(text: string): boolean {
  return (
    isIP(text) !== 0 || (text.length <= 253 && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i.test(text))
  );
}

/**
 * The address that the management cluster gives its server: that of its load balancer, else a port on one of its nodes. Throws
 * UsageError when it gives none that other clusters could reach.
 */
export async function findRelayAddress(management: Cluster, namespace: string): Promise<RelayAddress> {
  for (const generation of ["gloo-mesh", "enterprise"] as const satisfies readonly Generation[]) {
    const name = NAMES[generation].server;
    const service = await management.get(Service, { name, namespace });
    if (service !== undefined) return addressOf(management, service);
  }
  const names = Object.values(NAMES).map(({ server }) => server);
  throw new UsageError(`the management cluster has no Service ${namespace}/${names.join(` or ${namespace}/`)}: ${REMEDY}`);
}

async function addressOf(management: Cluster, { metadata, spec = {}, status }: Service): Promise<RelayAddress> {
  const { name, namespace = "" } = metadata;
  const { type = "ClusterIP" } = spec;
  const service = `Service ${namespace}/${name}`;
  const given = { authority: `${name}.${namespace}` };
  const port = relayPort(spec.ports ?? []);
  if (port?.port === undefined) throw new UsageError(`${service} has no port ${RELAY_PORT}: ${REMEDY}`);
  if (type === "LoadBalancer") {
    const ingress = status?.loadBalancer?.ingress?.find(({ ip, hostname }) => (hostname ?? ip ?? "") !== "");
    const host = ingress?.hostname ?? ingress?.ip;
    if (host !== undefined) return { ...given, host, port: port.port, source: `load balancer of ${service}` };
  }
  if (type !== "LoadBalancer" && type !== "NodePort") {
    throw new UsageError(`${service} is of type ${type}, which other clusters cannot reach: ${REMEDY}`);
  }
  if (port.nodePort === undefined) throw new UsageError(`the load balancer of ${service} has no address yet: wait for it, or ${REMEDY}`);
  const node = await nodeAddress(management);
  if (node === undefined) {
    throw new UsageError(
      type === "LoadBalancer"
        ? `the load balancer of ${service} has no address yet, and no node has an external one: wait for it, or ${REMEDY}`
        : `no node of the management cluster has an address for the node port of ${service}: ${REMEDY}`,
    );
  }
  return { ...given, host: node.address, port: port.nodePort, source: `node port of ${service} on node ${node.name}` };
}

/** The port by its number or name, else the only one there is. */
function relayPort(ports: NonNullable<NonNullable<Service["spec"]>["ports"]>) {
  return (
    ports.find(({ port, targetPort }) => port === RELAY_PORT || targetPort === RELAY_PORT) ??
    ports.find(({ name = "" }) => name === "grpc" || name === "relay") ??
    (ports.length === 1 ? ports[0] : undefined)
  );
}

/** The first node by name with an external address; of kind (kind.sigs.k8s.io) or where none has one, an internal one. */
async function nodeAddress(management: Cluster): Promise<{ readonly name: string; readonly address: string } | undefined> {
  const { items } = await management.list(Node);
  const nodes = [...items].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const of = (type: string) =>
    nodes.flatMap(({ metadata, status }) =>
      (status?.addresses ?? [])
        .filter((given) => given.type === type && (given.address ?? "") !== "")
        .map(({ address = "" }) => ({ name: metadata.name, address })),
    );
  const isKind = nodes.some(({ status }) => status?.images?.some(({ names = [] }) => names.some((name) => name.includes(KIND_NODE_IMAGE))));
  return (isKind ? undefined : of("ExternalIP")[0]) ?? of("InternalIP")[0];
}

const REMEDY = "pass the address that the agent reaches the server at with --relay-server-address HOST:PORT";
