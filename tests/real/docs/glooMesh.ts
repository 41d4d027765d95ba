import { TrafficPolicy } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { expect } from "vitest";
import type { ApiServer } from "../harness/apiServer.ts";
import { clusterOf } from "../harness/clusters.ts";
import type { Components } from "../harness/components.ts";
import { namespace as namespaceOf } from "../harness/istioInstallation.ts";
import { kubectl } from "../harness/kubectl.ts";
import { installCrds } from "../harness/manifests.ts";
import { ourCrds } from "../harness/meshCluster.ts";

const namespace = "gloo-mesh";
const MANAGER = "enterprise-agent";

/** Where a Gloo Mesh is at work. */
export interface GlooMesh {
  readonly components: Components;
  /** Its management cluster. */
  readonly management: ApiServer;
  /** A cluster with Bookinfo that it manages. */
  readonly workload: ApiServer;
}

/** What a Gloo Mesh leaves where it is at work: the policy of a user, its agent's Deployment, and the objects that it has written for the policy. */
export async function fillGlooMesh({ components, management, workload }: GlooMesh): Promise<void> {
  await installCrds(clusterOf(management, ""), ourCrds());
  await create(management, "kubectl", [namespaceOf(namespace), policy()]);
  await create(workload, "helm", [namespaceOf(namespace), agent()]);
  await create(workload, MANAGER, [route(), rule("reviews"), rule("gone")]);

  async function create(server: ApiServer, manager: string, items: readonly AnyResource[]): Promise<void> {
    const list = { apiVersion: "v1", kind: "List", items };
    const { code, stderr } = await kubectl({ components, server }, ["create", `--field-manager=${manager}`, "-f", "-"], list);
    expect(code, stderr).toBe(0);
  }
}

function policy(): AnyResource {
  const { apiVersion, kind } = TrafficPolicy;
  const spec = {
    destinationSelector: [{ kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "reviews" } } }],
    policy: { requestTimeout: "2s" },
  };
  return { apiVersion, kind, metadata: { name: "timeout", namespace }, spec } as AnyResource;
}

function agent(): AnyResource {
  const labels = { app: MANAGER };
  const template = { metadata: { labels }, spec: { containers: [{ name: MANAGER, image: MANAGER }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: MANAGER, namespace }, spec } as AnyResource;
}

/** Source of names, labels and form of what it writes: the published product, for a TrafficPolicy with a timeout. */
function written(kind: string, name: string, spec: object): AnyResource {
  const parents = { "discovery.mesh.gloo.solo.io/v1, Kind=Destination": [{ name: `${name}-bookinfo-east`, namespace }] };
  const metadata = {
    name,
    namespace: "bookinfo",
    labels: { "owner.networking.mesh.gloo.solo.io": namespace, "cluster.multicluster.solo.io": "" },
    annotations: { "parents.networking.mesh.gloo.solo.io": JSON.stringify(parents) },
  };
  return { apiVersion: "networking.istio.io/v1alpha3", kind, metadata, spec } as AnyResource;
}

function route(): AnyResource {
  const host = "reviews.bookinfo.svc.cluster.local";
  const http = [{ match: [{ port: 9080 }], route: [{ destination: { host, port: { number: 9080 } } }], timeout: "1s" }];
  return written("VirtualService", "reviews", { hosts: [host], http });
}

function rule(name: string): AnyResource {
  const host = `${name}.bookinfo.svc.cluster.local`;
  return written("DestinationRule", name, { host, trafficPolicy: { tls: { mode: "ISTIO_MUTUAL" } } });
}
