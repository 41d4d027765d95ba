import {
  AccessLogRecord,
  AccessPolicy,
  ApiDoc,
  ApiSchemaDiscovery,
  contributedKinds,
  deliveredKinds,
  onDemandKinds,
  ServiceDependency,
  Settings,
  TrafficPolicy,
  VirtualDestination,
  VirtualMesh,
  WasmDeployment,
} from "@isthmus/api";
import { type AnyResource, groupOf, type Kind } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { expect } from "vitest";
import type { ApiServer } from "../harness/apiServer.ts";
import { applyAll } from "../harness/manifests.ts";
import { waitFor } from "../harness/waitFor.ts";
import { namespace } from "./release.ts";

/** A cluster with Istio, Bookinfo, an Open Service Mesh and Cilium, and the management cluster where users ask for something in it. */
export interface Exercise {
  readonly management: Cluster;
  /** The name of the cluster. */
  readonly cluster: string;
  readonly workload: Cluster;
  readonly server: ApiServer;
  /** Whether an agent runs there, which reads the schemas of APIs. */
  readonly hasAgent: boolean;
  /** Kinds of which no policy here makes an object. */
  readonly except: readonly Kind[];
  /** The VirtualMesh of the cluster's Istio mesh, with this in its spec. */
  readonly virtualMesh: (federation: { readonly federation?: object }) => AnyResource;
}

/**
 * Lets each kind that is delivered be created, changed and deleted in a cluster, by policies that come, change and go, and each kind that
 * users may write there be answered there; waits for each.
 */
export async function exerciseEveryKind({ management, cluster, workload, server, hasAgent, except, virtualMesh }: Exercise): Promise<void> {
  const kinds = deliveredKinds().filter((kind) => !except.includes(kind));
  await applyAll(management, [virtualMesh({ federation: { permissive: {} } }), ...policies(cluster, 0)]);
  await areUsed(["create"]);
  // An agent reads back what Cilium makes of policies at most once in 5 s, and counts at most once in 30 s: these must not be gone by then.
  await areUsed(["list", "watch"], onDemandKinds());
  await applyAll(management, [virtualMesh({ federation: { permissive: {}, hostnameSuffix: "every" } }), ...policies(cluster, 1)]);
  await areUsed(["get", "update", "patch"]);
  for (const { apiVersion, kind, metadata } of policies(cluster, 1)) {
    await management.delete({ apiVersion, kind, name: metadata.name, namespace, clusterName: "" });
  }
  await applyAll(management, [virtualMesh({})]);
  await areUsed(["delete"]);
  if (hasAgent) await exerciseApiDocs();
  const asked = contributedKinds().map((kind) => object(kind, "every-there", kind === VirtualMesh ? { meshes: [] } : {}));
  await applyAll(workload, asked);
  await areUsed(["patch"], contributedKinds(), "/status");
  for (const { apiVersion, kind, metadata } of asked) {
    await workload.delete({ apiVersion, kind, name: metadata.name, namespace, clusterName: cluster });
  }

  /** No pod serves the Service: its ApiDoc says so, and goes with the annotation. */
  async function exerciseApiDocs(): Promise<void> {
    const service = (annotations: object) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "every-api", namespace, annotations },
      spec: { selector: { app: "every-api" }, ports: [{ port: 80 }] },
    });
    const discovery = object(ApiSchemaDiscovery, "every-discovery", {
      openapi: { fetchEndpoint: { url: "http://every-api/openapi.json" } },
    });
    await applyAll(workload, [service({ "gloo.solo.io/scrape-openapi-source": "/openapi.json" }), discovery] as AnyResource[]);
    await areUsed(["get", "patch"], [ApiDoc]);
    await areUsed(["patch"], [ApiDoc, ApiSchemaDiscovery], "/status");
    await workload.delete({
      apiVersion: discovery.apiVersion,
      kind: discovery.kind,
      name: "every-discovery",
      namespace,
      clusterName: cluster,
    });
    await applyAll(workload, [service({})] as AnyResource[]);
    await areUsed(["delete"], [ApiDoc]);
    await workload.delete({ apiVersion: "v1", kind: "Service", name: "every-api", namespace, clusterName: cluster });
  }

  async function areUsed(verbs: readonly string[], of: readonly Kind[] = kinds, subresource = ""): Promise<void> {
    const wanted = of.flatMap(({ apiVersion, plural }) => verbs.map((verb) => `${groupOf(apiVersion)}/${plural}${subresource} ${verb}`));
    await waitFor(`${verbs.join(", ")} of each kind`, async () => {
      const used = new Set(server.planeVerbs());
      expect(wanted.filter((right) => !used.has(right))).toEqual([]);
      return true;
    });
  }
}

/** Policies of which every kind that is delivered is made; each kind differs between the two steps. */
function policies(cluster: string, step: 0 | 1): readonly AnyResource[] {
  const services = (name: string, at: string) => [{ kubeServiceRefs: { services: [{ name, namespace: at, clusterName: cluster }] } }];
  const accounts = (names: readonly string[], at: string) => [
    { kubeServiceAccountRefs: { serviceAccounts: names.map((name) => ({ name, namespace: at, clusterName: cluster })) } },
  ];
  const kubeService = (name: string) => ({ name, namespace: "shop", clusterName: cluster });
  return [
    object(TrafficPolicy, "every-route", {
      destinationSelector: services("details", "bookinfo"),
      policy: {
        requestTimeout: `${step + 3}s`,
        outlierDetection: { consecutiveErrors: step + 3 },
        csrf: { filterEnabled: true, percentage: step + 50 },
      },
    }),
    object(Settings, "settings", { cilium: { accessPolicies: "ENABLED" } }),
    object(AccessPolicy, "every-access", {
      sourceSelector: accounts(["bookinfo-productpage", ...(step === 0 ? [] : ["bookinfo-reviews"])], "bookinfo"),
      destinationSelector: services("details", "bookinfo"),
      allowedMethods: step === 0 ? ["GET"] : ["GET", "HEAD"],
    }),
    object(VirtualDestination, "every-host", {
      hostname: "details.every.global",
      port: { number: 80 + step, targetNumber: 9080 },
      meshList: { meshes: [{ name: `istiod-istio-system-${cluster}`, namespace }] },
      static: { destinations: [{ kubeService: { name: "details", namespace: "bookinfo", clusterName: cluster } }] },
      localized: { outlierDetection: { consecutiveErrors: 3 } },
    }),
    object(ServiceDependency, "every-dependency", {
      sourceSelectors: [{ kubeWorkloadMatcher: { labels: { app: "productpage" }, namespaces: ["bookinfo"], clusters: [cluster] } }],
      destinationSelectors: services(step === 0 ? "details" : "reviews", "bookinfo"),
    }),
    object(AccessLogRecord, "every-record", {
      workloadSelectors: [{ kubeWorkloadMatcher: { labels: { app: "productpage" }, namespaces: ["bookinfo"], clusters: [cluster] } }],
      filters: [{ statusCodeMatcher: { value: step === 0 ? 400 : 500, comparator: "GE" } }],
    }),
    // The agent's operator has not allowed it: the status that answers is patched all the same.
    object(WasmDeployment, "every-filter", {
      workloadSelector: [{ kubeWorkloadMatcher: { labels: { app: "productpage" }, namespaces: ["bookinfo"], clusters: [cluster] } }],
      filters: [{ wasmImageSource: { wasmImageTag: `registry.example.com/filter:v${step}` } }],
    }),
    object(TrafficPolicy, "every-split", {
      destinationSelector: services("cart", "shop"),
      policy: {
        trafficShift: {
          destinations: [
            { weight: 90 - step, kubeService: kubeService("cart-v1") },
            { weight: 10 + step, kubeService: kubeService("cart-v2") },
          ],
        },
      },
    }),
    object(AccessPolicy, "every-caller", {
      sourceSelector: accounts(step === 0 ? ["till"] : ["till", "cart"], "shop"),
      destinationSelector: services("cart-v1", "shop"),
      allowedPorts: step === 0 ? [8080, 8443] : [8080],
      allowedMethods: step === 0 ? ["GET"] : ["GET", "HEAD"],
    }),
  ];
}

function object({ apiVersion, kind }: Kind, name: string, spec: object): AnyResource {
  return { apiVersion, kind, metadata: { name, namespace }, spec } as AnyResource;
}
