import { EndpointSlice, Pod } from "@isthmus/api";
import { snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { otherReplicas, replicaClient } from "../src/replicas.ts";

const at = (name: string, namespace: string) => ({ name, namespace, clusterName: "east" });
const pod = (name: string, app: string, namespace = "gloo-mesh") =>
  Pod.parse({ apiVersion: "v1", kind: "Pod", metadata: { ...at(name, namespace), labels: { app } } });

function slice(name: string, pods: Readonly<Record<string, readonly string[]>>, namespace = "gloo-mesh") {
  const endpoints = Object.entries(pods).map(([target, addresses]) => ({
    addresses,
    targetRef: { kind: "Pod", name: target, namespace: "gloo-mesh" },
  }));
  return EndpointSlice.parse({ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: at(name, namespace), endpoints });
}

const cluster = snapshotOf([
  ...[
    pod("agent-1", "agent"),
    pod("agent-2", "agent"),
    pod("server-1", "server"),
    pod("agent-3", "agent", "elsewhere"),
    pod("agent-4", "agent"),
  ],
  slice("agent-v4", { "agent-2": ["10.0.0.2"], "server-1": ["10.0.0.9"] }),
  slice("agent-v6", { "agent-2": ["fd01::2"] }),
  // In another namespace nobody says where a replica is.
  slice("agent-x", { "agent-2": ["10.6.6.6"] }, "elsewhere"),
]);

it("are pods of the same app in the same namespace, with their addresses, and none where the own pod is not known", () => {
  const of = (name: string) => otherReplicas(cluster, at(name, "gloo-mesh"));
  expect(of("agent-1")).toEqual([
    { name: "agent-2", addresses: ["10.0.0.2", "fd01::2"] },
    { name: "agent-4", addresses: [] },
  ]);
  expect(of("gloo-mesh-agent")).toEqual([]);
});

it("are missing where none can be asked: without an address, at one of this machine, and without a certificate", async () => {
  const warnings: string[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (_: object, text: string) => void warnings.push(text),
    error: () => undefined,
  };
  const isCalled: string[] = [];
  const keys = {
    get identity() {
      isCalled.push("asked");
      return undefined;
    },
    isReplica: async () => false,
    reload: async () => undefined,
    onChange: () => undefined,
  };
  const others = () => [
    { name: "agent-2", addresses: [] },
    { name: "agent-3", addresses: ["127.0.0.1", "169.254.169.254", "::1", "evil.example"] },
  ];
  const query = { topic: "access-logs", body: new Uint8Array(), mostBytes: 10, read: () => 1 };
  const client = replicaClient({ others, keys, port: 9978, log });
  expect(await client.ask(query)).toEqual({ answers: [], missing: ["agent-2", "agent-3"] });
  // No connection was tried, and the next question logs nothing new.
  await client.ask(query);
  expect(isCalled).toEqual([]);
  expect(warnings).toHaveLength(2);
  const without = replicaClient({ others: () => [{ name: "agent-2", addresses: ["10.0.0.2"] }], keys: undefined, port: 9978, log });
  expect(await without.ask(query)).toEqual({ answers: [], missing: ["agent-2"] });
});

it("are asked up to 20, and the others are missing too", async () => {
  const asked: string[] = [];
  const warn = ({ replica }: { readonly replica?: string }) => void asked.push(String(replica));
  const log = { debug: () => undefined, info: () => undefined, warn, error: () => undefined };
  const others = () => Array.from({ length: 25 }, (_, i) => ({ name: `agent-${i}`, addresses: [] }));
  const query = { topic: "access-logs", body: new Uint8Array(), mostBytes: 10, read: () => 1 };
  const { missing } = await replicaClient({ others, keys: undefined, port: 9978, log }).ask(query);
  expect(missing).toEqual(others().map(({ name }) => name));
  expect(asked).toEqual(missing.slice(0, 20));
});
