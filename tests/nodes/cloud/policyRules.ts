import type { CloudObject } from "./api.ts";

type Labels = Readonly<Record<string, string>>;

interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Port {
  readonly protocol?: string;
  readonly port?: number | string;
  readonly endPort?: number;
}

interface PolicyRule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly Port[];
}

/** A NetworkPolicy. */
export interface NetworkPolicy extends CloudObject {
  readonly spec: {
    readonly podSelector?: Selector;
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly PolicyRule[];
    readonly egress?: readonly PolicyRule[];
  };
}

/** A Pod, as far as NetworkPolicies go. */
export interface NetworkPod extends CloudObject {
  readonly spec: {
    readonly hostNetwork?: boolean;
    readonly containers: readonly {
      readonly ports?: readonly { readonly name?: string; readonly containerPort: number; readonly protocol?: string }[];
    }[];
  };
  readonly status?: { readonly podIP?: string; readonly phase?: string };
}

/** What the policies of a cluster select among. */
export interface PolicyInputs {
  readonly policies: readonly NetworkPolicy[];
  readonly pods: readonly NetworkPod[];
  readonly namespaces: readonly CloudObject[];
}

const ENDED: ReadonlySet<string> = new Set(["Succeeded", "Failed"]);
const WAYS = [
  { way: "in", type: "Ingress", address: "daddr", peer: "saddr" },
  { way: "out", type: "Egress", address: "saddr", peer: "daddr" },
] as const;

/** NetworkPolicies as a table of nftables, which takes the place of the one before. Source: kubernetes.io/docs/concepts/services-networking/network-policies. */
export function nftablesOf({ policies, pods: all, namespaces }: PolicyInputs): string {
  const pods = all.filter(({ spec, status }) => status?.podIP && spec.hostNetwork !== true && !ENDED.has(status.phase ?? ""));
  const namespaceLabels = new Map(namespaces.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
  const jumps: string[] = [];
  const chains: string[] = [];
  for (const pod of pods) {
    const own = policies.filter(
      ({ metadata, spec }) => metadata.namespace === pod.metadata.namespace && selects(spec.podSelector, pod.metadata.labels),
    );
    for (const { way, type, address, peer } of WAYS) {
      const those = own.filter(({ spec }) => (spec.policyTypes ?? ["Ingress"]).includes(type));
      if (those.length === 0) continue;
      const ip = pod.status?.podIP ?? "";
      const chain = `${way}-${ip.replaceAll(".", "-")}`;
      const rules = those.flatMap((policy) =>
        ((way === "in" ? policy.spec.ingress : policy.spec.egress) ?? []).flatMap((rule) => {
          const peers = peersOf(policy, way === "in" ? rule.from : rule.to, { pods, namespaceLabels, side: peer });
          // A port's name is one of the pod that is called; whose that is, is not known for calls that go out.
          const ports = portsOf(rule.ports, way === "in" ? pod : undefined);
          return peers.flatMap((one) =>
            ports.map((port) => [one === "" ? "" : `ip ${peer} ${one}`, port, "return"].filter((part) => part !== "").join(" ")),
          );
        }),
      );
      jumps.push(`ip ${address} ${ip} jump ${chain}`);
      chains.push(`chain ${chain} {\n${[...rules, "drop"].map((line) => `  ${line}`).join("\n")}\n}`);
    }
  }
  const forward = ["type filter hook forward priority filter; policy accept;", "ct state established,related accept", ...jumps];
  const table = [...chains, `chain forward {\n${forward.map((line) => `  ${line}`).join("\n")}\n}`];
  return `table ip policies\ndelete table ip policies\ntable ip policies {\n${table.join("\n")}\n}\n`;
}

function selects({ matchLabels = {}, matchExpressions = [] }: Selector = {}, labels: Labels = {}): boolean {
  const fits = ({
    key,
    operator,
    values = [],
  }: {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }) => {
    const value = labels[key];
    if (operator === "Exists") return value !== undefined;
    if (operator === "DoesNotExist") return value === undefined;
    const isOne = value !== undefined && values.includes(value);
    return operator === "In" ? isOne : !isOne;
  };
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value) && matchExpressions.every(fits);
}

interface Known {
  readonly pods: readonly NetworkPod[];
  readonly namespaceLabels: ReadonlyMap<string, Labels>;
  readonly side: "saddr" | "daddr";
}

/** Addresses as nftables has them; "" for anywhere. */
function peersOf(policy: NetworkPolicy, peers: readonly Peer[] | undefined, { pods, namespaceLabels, side }: Known): readonly string[] {
  if (peers === undefined || peers.length === 0) return [""];
  return peers.flatMap(({ ipBlock, namespaceSelector, podSelector }) => {
    if (ipBlock !== undefined) {
      const { cidr, except = [] } = ipBlock;
      if (cidr.includes(":")) return [];
      return except.length === 0 ? [cidr] : [`${cidr} ip ${side} != { ${except.join(", ")} }`];
    }
    const isThere = ({ metadata: { namespace = "" } }: NetworkPod) =>
      namespaceSelector === undefined
        ? namespace === policy.metadata.namespace
        : selects(namespaceSelector, namespaceLabels.get(namespace));
    return pods.filter((pod) => isThere(pod) && selects(podSelector, pod.metadata.labels)).map(({ status }) => status?.podIP ?? "");
  });
}

function portsOf(ports: readonly Port[] | undefined, target: NetworkPod | undefined): readonly string[] {
  if (ports === undefined || ports.length === 0) return [""];
  return ports.flatMap(({ protocol = "TCP", port, endPort }) => {
    const name = protocol.toLowerCase();
    if (port === undefined) return [`meta l4proto ${name}`];
    if (typeof port === "number") return [`${name} dport ${port}${endPort === undefined ? "" : `-${endPort}`}`];
    const named = (target?.spec.containers ?? []).flatMap(({ ports: own = [] }) => own);
    return named
      .filter((one) => one.name === port && (one.protocol ?? "TCP") === protocol)
      .map(({ containerPort }) => `${name} dport ${containerPort}`);
  });
}
