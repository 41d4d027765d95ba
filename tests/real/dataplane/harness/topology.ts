import { readFileSync, writeFileSync } from "node:fs";

/** Pods and Services of one cluster, as the testbed reads them. */
interface ClusterTopology {
  readonly pods: readonly object[];
  readonly services: readonly object[];
}

interface Topology {
  readonly clusters: Readonly<Record<string, ClusterTopology>>;
}

/** What our cases need beside the testbed's own pods: a client in another namespace, and a Service with several ports, none of them its pods'. */
const added: Readonly<Record<string, ClusterTopology>> = {
  "cluster-1": {
    pods: [{ deployment: "visitor", namespace: "visitors", serviceAccount: "visitor", labels: { app: "visitor" }, host: 12 }],
    services: [],
  },
  "cluster-2": {
    pods: [],
    services: [
      {
        name: "library",
        namespace: "bookinfo",
        selector: { app: "reviews" },
        ports: [
          { name: "http", port: 8080, targetPort: 9080 },
          { name: "http-admin", port: 8081, targetPort: 9080 },
          // Istio takes the one for TCP, and looks into the other.
          { name: "tcp-bytes", port: 8082, targetPort: 9080 },
          { name: "web", port: 8083, targetPort: 9080 },
        ],
      },
      { name: "shelf", namespace: "bookinfo", selector: { app: "productpage" }, ports: [{ name: "tcp", port: 8082, targetPort: 9080 }] },
    ],
  },
};

const ratings = (version: string, host: number): object => ({
  ...{ deployment: `ratings-${version}`, namespace: "bookinfo", serviceAccount: "bookinfo-ratings" },
  ...{ labels: { app: "ratings", version }, host, port: 9080 },
});
const ratingsService = {
  ...{ name: "ratings", namespace: "bookinfo", selector: { app: "ratings" } },
  ports: [{ name: "http", port: 9080, targetPort: 9080 }],
};

/** A Service of which not every cluster has every version. */
const versioned: Readonly<Record<string, ClusterTopology>> = {
  "cluster-1": { pods: [ratings("v1", 30)], services: [ratingsService] },
  "cluster-2": { pods: [ratings("v1", 30), ratings("v2", 31)], services: [ratingsService] },
};

/** Writes the testbed's topology with our additions to `file`. */
export function writeTopology(ofTestbed: string, file: string): void {
  writeWith(added, ofTestbed, file);
}

/** Writes the testbed's topology to `file` as users have clusters: with the trust domain that Istio has by default, and Services of mixed TLS. */
export function writeBrownfieldTopology(ofTestbed: string, file: string): void {
  writeWith(
    {
      "cluster-1": {
        pods: [...MIXED.map(mixedPod), mixedPod({ app: "half", version: "old" }, MIXED.length)],
        services: MIXED.map(mixedService),
      },
    },
    ofTestbed,
    file,
    {
      trustDomain: "cluster.local",
    },
  );
}

interface MixedApp {
  readonly app: string;
  readonly version: string;
}

const MIXED: readonly MixedApp[] = ["legacy", "strict", "half"].map((app) => ({ app, version: "v1" }));

function mixedPod({ app, version }: MixedApp, i: number): object {
  const labels = { app, version };
  return { deployment: `${app}-${version}`, namespace: "bookinfo", serviceAccount: `bookinfo-${app}`, labels, host: 30 + i, port: 9080 };
}

function mixedService({ app }: MixedApp): object {
  return { name: app, namespace: "bookinfo", selector: { app }, ports: [{ name: "http", port: 9080, targetPort: 9080 }] };
}

/** Writes the testbed's topology to `file`, with a Service that has another set of versions in each cluster. */
export function writeFailoverTopology(ofTestbed: string, file: string): void {
  writeWith(versioned, ofTestbed, file);
}

function writeWith(more: Readonly<Record<string, ClusterTopology>>, ofTestbed: string, file: string, everywhere: object = {}): void {
  const { clusters } = JSON.parse(readFileSync(ofTestbed, "utf8")) as Topology;
  const widened = Object.entries(clusters).map(([name, cluster]) => {
    const { pods = [], services = [] } = more[name] ?? {};
    return [name, { ...cluster, ...everywhere, pods: [...cluster.pods, ...pods], services: [...cluster.services, ...services] }];
  });
  writeFileSync(file, JSON.stringify({ clusters: Object.fromEntries(widened) }));
}

/** Writes the testbed's topology for certificates to `file`, with two replicas of the server that cluster-1 calls within it. */
export function writeTrustTopology(ofTestbed: string, file: string): void {
  const topology = JSON.parse(readFileSync(ofTestbed, "utf8")) as Topology;
  const clusters = Object.entries(topology.clusters).map(([name, cluster]) => {
    const pods = cluster.pods.map((pod) => ("port" in pod ? { ...pod, replicas: 2 } : pod));
    return [name, { ...cluster, pods }];
  });
  writeFileSync(file, JSON.stringify({ ...topology, clusters: Object.fromEntries(clusters) }));
}

/** Writes a topology for a management plane: cluster-1 with nothing but its gateway, and Bookinfo's two services in cluster-2. */
export function writePlaneTopology(file: string): void {
  const ports = [{ name: "http", port: 9080, targetPort: 9080 }];
  const pod = (app: string, host: number) => ({
    ...{ deployment: `${app}-v1`, namespace: "bookinfo", serviceAccount: `bookinfo-${app}` },
    ...{ labels: { app, version: "v1" }, host, port: 9080 },
  });
  const service = (app: string) => ({ name: app, namespace: "bookinfo", selector: { app }, ports });
  const cluster = (index: number) => ({
    index,
    trustDomain: `cluster-${index}`,
    region: "us-east",
    zone: "us-east-a",
    pods: [],
    services: [],
  });
  const bookinfo = { pods: [pod("productpage", 10), pod("reviews", 20)], services: [service("productpage"), service("reviews")] };
  writeFileSync(file, JSON.stringify({ clusters: { "cluster-1": cluster(1), "cluster-2": { ...cluster(2), ...bookinfo } } }));
}
