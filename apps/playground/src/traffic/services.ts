import type { MeshProxy } from "./proxies.ts";

/** How the program behind a proxy answers. */
export interface ServiceBehaviour {
  /** Its own time for most requests, without what it waits for. */
  readonly medianMs: number;
  /** Part of the requests that it answers with 500. */
  readonly errors: number;
  /** Part of the requests that take twenty times as long. */
  readonly slow: number;
  /** Requests per second of one pod; beyond, 503. */
  readonly capacity: number;
  /** What it asks for each request, one after the other, by host. */
  readonly calls: readonly string[];
}

const HOST = (app: string) => `${app}.bookinfo.svc.cluster.local`;
const FINE = { errors: 0, slow: 0.01, capacity: 100, calls: [] } as const;

const BEHAVIOURS: Readonly<Record<string, ServiceBehaviour>> = {
  productpage: { ...FINE, medianMs: 14, calls: [HOST("details"), HOST("reviews")] },
  details: { ...FINE, medianMs: 4 },
  "reviews-v1": { ...FINE, medianMs: 7 },
  reviews: { ...FINE, medianMs: 9, calls: [HOST("ratings")] },
  ratings: { ...FINE, medianMs: 5 },
  // The one that fails: slow and ill. It still carries what fails over to it and what is shifted to it, so that nothing else is seen.
  "cluster-2/ratings-v1": { medianMs: 18, errors: 0.06, slow: 0.04, capacity: 40, calls: [] },
};

/** Of the workload in its cluster, of the workload, or of the app; anything else answers at once. */
export function behaviourOf({ cluster, workload, labels }: MeshProxy): ServiceBehaviour {
  const app = labels["app"] ?? "";
  return BEHAVIOURS[`${cluster}/${workload}`] ?? BEHAVIOURS[workload] ?? BEHAVIOURS[app] ?? { ...FINE, medianMs: 2 };
}

/** Requests that come from outside, through a pod of a workload. */
export interface Client {
  readonly cluster: string;
  readonly workload: string;
  readonly host: string;
  readonly path: string;
  readonly perSecond: number;
}

/** Readers of the book in both regions, of whom those in the west are served by the east; and somebody who asks for ratings past everybody. */
export const CLIENTS: readonly Client[] = [
  { cluster: "cluster-1", workload: "istio-ingressgateway", host: HOST("productpage"), path: "/productpage", perSecond: 8 },
  {
    cluster: "cluster-2",
    workload: "istio-ingressgateway",
    host: "productpage.bookinfo.svc.cluster-1.global",
    path: "/productpage",
    perSecond: 3,
  },
  { cluster: "cluster-2", workload: "istio-ingressgateway", host: HOST("ratings"), path: "/ratings/0", perSecond: 1 },
];
