import { brotliDecompressSync } from "node:zlib";
import type { Resource } from "@isthmus/core";
import type { SimulatedState } from "../state.ts";
import { rolesData } from "./gen/roles.ts";

const SERVICE = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "kubernetes", namespace: "default", labels: { component: "apiserver", provider: "kubernetes" } },
  spec: { clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.1"], ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }] },
};

const CRITICAL = [
  {
    name: "system-cluster-critical",
    value: 2_000_000_000,
    description: "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  },
  {
    name: "system-node-critical",
    value: 2_000_001_000,
    description: "Used for system critical pods that must not be moved from their current node.",
  },
];

/** What an API server makes of itself, as far as users look at it; without what is there already. */
export function bootstrapObjects(state: SimulatedState): readonly Resource[] {
  const roles = JSON.parse(brotliDecompressSync(Buffer.from(rolesData, "base64")).toString("utf8")) as readonly Resource[];
  const classes = CRITICAL.map(({ name, ...rest }) => ({
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name },
    ...rest,
  }));
  return ([SERVICE, ...classes, ...roles] as readonly Resource[]).filter(
    ({ apiVersion, kind, metadata: { name, namespace = "" } }) => state.find({ apiVersion, kind, name, namespace }) === undefined,
  );
}
