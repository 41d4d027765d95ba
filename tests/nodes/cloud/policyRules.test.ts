import { expect, test } from "vitest";
import { type NetworkPod, type NetworkPolicy, nftablesOf } from "./policyRules.ts";

const pod = (name: string, podIP: string, labels: Readonly<Record<string, string>>, namespace = "a"): NetworkPod => ({
  metadata: { name, namespace, uid: name, labels },
  spec: { containers: [{ ports: [{ name: "grpc", containerPort: 9900 }] }] },
  status: { podIP, phase: "Running" },
});
const policy = (spec: NetworkPolicy["spec"]): NetworkPolicy => ({ metadata: { name: "p", namespace: "a", uid: "p" }, spec });
const server = pod("server", "10.0.0.1", { app: "server" });
const pods = [server, pod("agent", "10.0.0.2", { app: "agent" }), pod("other", "10.0.0.3", { app: "agent" }, "b")];
const namespaces = [
  { metadata: { name: "a", uid: "a", labels: { team: "a" } } },
  { metadata: { name: "b", uid: "b", labels: { team: "b" } } },
];
const rulesOf = (spec: NetworkPolicy["spec"], among = pods) =>
  nftablesOf({ policies: [policy(spec)], pods: among, namespaces })
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /jump|return|drop/.test(line));

test("without a policy nothing is dropped", () => {
  expect(nftablesOf({ policies: [], pods, namespaces })).not.toContain("drop");
});

test("who is selected is closed but for what a rule lets in, by the name of a port, a pod of the own namespace, or one of another", () => {
  const ingress = [{ from: [{ podSelector: { matchLabels: { app: "agent" } } }], ports: [{ port: "grpc" }] }];
  expect(rulesOf({ podSelector: { matchLabels: { app: "server" } }, ingress })).toEqual([
    "ip saddr 10.0.0.2 tcp dport 9900 return",
    "drop",
    "ip daddr 10.0.0.1 jump in-10-0-0-1",
  ]);
  const anywhere = [{ from: [{ namespaceSelector: { matchExpressions: [{ key: "team", operator: "In", values: ["b"] }] } }] }];
  expect(rulesOf({ podSelector: { matchLabels: { app: "server" } }, ingress: anywhere })).toEqual([
    "ip saddr 10.0.0.3 return",
    "drop",
    "ip daddr 10.0.0.1 jump in-10-0-0-1",
  ]);
});

test("a policy for what goes out leaves what comes in open", () => {
  const egress = [
    { to: [{ ipBlock: { cidr: "10.0.0.0/24", except: ["10.0.0.9/32"] } }], ports: [{ protocol: "UDP", port: 53, endPort: 54 }] },
  ];
  expect(rulesOf({ podSelector: { matchLabels: { app: "server" } }, policyTypes: ["Egress"], egress })).toEqual([
    "ip daddr 10.0.0.0/24 ip daddr != { 10.0.0.9/32 } udp dport 53-54 return",
    "drop",
    "ip saddr 10.0.0.1 jump out-10-0-0-1",
  ]);
});

test("a pod that has ended, or is on the network of its node, has no rules", () => {
  const ended = { ...server, status: { podIP: "10.0.0.1", phase: "Succeeded" } };
  const ofNode = { ...server, spec: { ...server.spec, hostNetwork: true } };
  expect([ended, ofNode].map((one) => rulesOf({ podSelector: {} }, [one]))).toEqual([[], []]);
});
