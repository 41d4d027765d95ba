import type { AnyResource } from "@isthmus/core";
import { expectAll } from "../harness/expectations.ts";
import { service, trafficPolicy } from "../harness/resources.ts";
import type { ClusterName } from "../harness/testbed.ts";
import type { EndToEnd } from "./endToEnd.ts";

/** Of cluster-1, as its own pods call it, and of the other cluster by its global name. */
export const hosts = {
  reviews: "reviews.bookinfo.svc.cluster.local",
  productpage: "productpage.bookinfo.svc.cluster.local",
  reviewsOfOne: "reviews.bookinfo.svc.cluster-1.global",
  reviewsOfTwo: "reviews.bookinfo.svc.cluster-2.global",
  libraryOfTwo: "library.bookinfo.svc.cluster-2.global",
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

/** A user's own object, of a kind that we write too: answers calls of cluster-1 to the library of cluster-2. Its effect is `ownRouteWorks`. */
export const ownRoute: AnyResource = {
  apiVersion: "networking.istio.io/v1",
  kind: "VirtualService",
  metadata: { name: "library", namespace: "bookinfo" },
  spec: {
    hosts: [hosts.libraryOfTwo],
    http: [{ fault: { abort: { httpStatus: 451, percentage: { value: 100 } } }, route: [{ destination: { host: hosts.libraryOfTwo } }] }],
  },
};

export function ownRouteWorks({ soon }: Pick<EndToEnd, "soon">): Promise<void> {
  return soon({ host: hosts.libraryOfTwo, port: 8080 }, (answers) => expectAll(answers, 451));
}
