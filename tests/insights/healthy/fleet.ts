import { readFileSync } from "node:fs";
import type { AnyResource, Resource } from "@isthmus/core";
import { readDocuments } from "@isthmus/testing";
import { inManagement, reportedCluster } from "../fleets/reportedCluster.ts";

/** The clusters of the healthy fleet. */
const CLUSTERS = ["east", "west", "south"] as const;

const APPS = [
  { app: "productpage", versions: ["v1"], tier: "front", namespace: "bookinfo" },
  { app: "details", versions: ["v1"], tier: "back", namespace: "bookinfo" },
  { app: "reviews", versions: ["v1", "v2"], tier: "back", namespace: "bookinfo" },
  { app: "ratings", versions: ["v1"], tier: "back", namespace: "bookinfo" },
  { app: "stock", versions: ["v1", "v2"], tier: "back", namespace: "shop" },
  { app: "cart", versions: ["v1"], tier: "back", namespace: "shop" },
];

/**
 * A fleet in which all is as it should be: joined clusters, one of them with Cilium, shared trust, access policies, gateways, and Istio objects of users in forms that are
 * right though they look unusual.
 */
export async function healthyFleet(): Promise<readonly Resource[]> {
  const reported = await Promise.all(
    CLUSTERS.map((name) => {
      const cilium = name === "east" ? documents("cilium.yaml") : [];
      return reportedCluster(name, [...documents("cluster.yaml", name), ...cilium, ...APPS.flatMap(appOf)] as readonly Resource[]);
    }),
  );
  return [
    ...reported.flat(),
    ...documents("management.yaml").map(inManagement),
    ...CLUSTERS.map(registration),
    ...CLUSTERS.map(certificate),
  ];
}

function documents(file: string, cluster = ""): readonly AnyResource[] {
  const text = readFileSync(new URL(file, import.meta.url), "utf8");
  return readDocuments(text.replaceAll("CLUSTER", cluster)) as readonly AnyResource[];
}

function appOf({ app, versions, tier, namespace }: (typeof APPS)[number]): readonly AnyResource[] {
  const labels = { app, tier };
  const ports = [{ name: "http", port: 9080, targetPort: 9080 }];
  return [
    { apiVersion: "v1", kind: "Service", metadata: { name: app, namespace, labels }, spec: { selector: { app }, ports } },
    ...versions.map((version) => {
      const matchLabels = { app, version };
      const template = {
        metadata: { labels: matchLabels },
        spec: { serviceAccountName: `${namespace}-${app}`, containers: [{ name: app, image: `example.com/${app}:${version}` }] },
      };
      const metadata = { name: `${app}-${version}`, namespace, labels: matchLabels };
      return { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { replicas: 2, selector: { matchLabels }, template } };
    }),
  ];
}

function registration(name: string): Resource {
  return inManagement({
    apiVersion: "multicluster.solo.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name, namespace: "gloo-mesh" },
    spec: {},
    status: { state: "CONNECTED", agent: { certificateNotAfter: "2026-02-01T20:00:00Z" } },
  });
}

/** What the agent of a cluster reports of the certificate authority of its mesh. */
function certificate(clusterName: string): Resource {
  const labels = { "owner.networking.mesh.gloo.solo.io": "gloo-mesh" };
  return inManagement({
    apiVersion: "certificates.mesh.gloo.solo.io/v1",
    kind: "IssuedCertificate",
    metadata: { name: `istiod-istio-system-${clusterName}`, namespace: "gloo-mesh", clusterName, labels },
    // It repeats what it was asked for.
    spec: {
      glooMeshCa: { signingCertificateSecret: { name: "all.gloo-mesh", namespace: "gloo-mesh" } },
      certOptions: { orgName: "Istio", ttlDays: 365, rsaKeySizeBytes: 4096, secretRotationGracePeriodRatio: 0.1 },
    },
    status: { state: "FINISHED", installed: { notAfter: "2027-01-01T00:00:00Z" }, inForce: { trusted: [ROOT], signers: [ROOT] } },
  });
}

const ROOT = "a".repeat(64);
