import type { AnyResource } from "@isthmus/core";
import { service, trafficPolicy } from "../harness/resources.ts";
import type { ClusterName } from "../harness/testbed.ts";

/** Of cluster-1, as its own pods call it, and of the other cluster by its global name. */
export const hosts = {
  reviews: "reviews.bookinfo.svc.cluster.local",
  productpage: "productpage.bookinfo.svc.cluster.local",
  reviewsOfOne: "reviews.bookinfo.svc.cluster-1.global",
  reviewsOfTwo: "reviews.bookinfo.svc.cluster-2.global",
} as const;

/** Sends all calls of cluster-1's reviews to a cluster's reviews, or to one version of them. */
export function shiftTo(clusterName: ClusterName, version?: "v1" | "v2"): AnyResource {
  const subset = version === undefined ? {} : { subset: { version } };
  const destinations = [{ kubeService: { name: "reviews", namespace: "bookinfo", clusterName, ...subset }, weight: 100 }];
  return trafficPolicy({ trafficShift: { destinations } }, { destinationSelector: [service("reviews", "cluster-1")] }, { name: "shift" });
}

/** Answers all calls of cluster-1's productpage with a status, without calling it. */
export function abort(httpStatus: number): AnyResource {
  const faultInjection = { abort: { httpStatus } };
  return trafficPolicy({ faultInjection }, { destinationSelector: [service("productpage", "cluster-1")] }, { name: "abort" });
}
