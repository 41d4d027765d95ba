import { TrafficPolicy, VirtualDestination, VirtualMesh } from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";

/** Joins the meshes of both clusters and makes everything callable from everywhere. */
export function virtualMesh(): AnyResource {
  const meshes = ["cluster-1", "cluster-2"].map((cluster) => ({ name: `istiod-istio-system-${cluster}`, namespace: "gloo-mesh" }));
  return userObject(VirtualMesh, "all", { meshes, federation: { permissive: {} } });
}

/** Sends `remoteShare` percent of the calls of cluster-1's reviews to cluster-2's. */
export function shiftPolicy(remoteShare: number): AnyResource {
  const reviews = (clusterName: string) => ({ name: "reviews", namespace: "bookinfo", clusterName });
  return userObject(TrafficPolicy, "shift", {
    destinationSelector: [{ kubeServiceRefs: { services: [reviews("cluster-1")] } }],
    policy: {
      requestTimeout: "2s",
      retries: { attempts: 3, perTryTimeout: "500ms" },
      trafficShift: {
        destinations: [
          { kubeService: { ...reviews("cluster-2"), port: 9080 }, weight: remoteShare },
          { kubeService: { ...reviews("cluster-1"), port: 9080 }, weight: 100 - remoteShare },
        ],
      },
    },
  });
}

/** A host of its own in cluster-1, for the reviews there. */
export function virtualDestination(): AnyResource {
  return userObject(VirtualDestination, "reviews", {
    hostname: "reviews.mesh.global",
    port: { number: 9080, protocol: "http" },
    meshList: { meshes: [{ name: "istiod-istio-system-cluster-1", namespace: "gloo-mesh" }] },
    static: { destinations: [{ kubeService: { name: "reviews", namespace: "bookinfo", clusterName: "cluster-1" } }] },
    localized: { outlierDetection: { consecutiveErrors: 3 } },
  });
}

/** A timeout for a Bookinfo service of both clusters. */
export function timeoutPolicy(service: string): AnyResource {
  const services = ["cluster-1", "cluster-2"].map((clusterName) => ({ name: service, namespace: "bookinfo", clusterName }));
  return userObject(TrafficPolicy, `timeout-${service}`, {
    destinationSelector: [{ kubeServiceRefs: { services } }],
    policy: { requestTimeout: "3s" },
  });
}

function userObject({ apiVersion, kind }: Kind, name: string, spec: object): AnyResource {
  return { apiVersion, kind, metadata: { name, namespace: "gloo-mesh" }, spec };
}
