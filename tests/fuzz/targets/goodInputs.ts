import { setTimeout as sleep } from "node:timers/promises";
import { agentKinds, allKinds, KubernetesCluster, kindOf, Settings, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import { type AnyResource, inCluster, kindKeyOf, type Log, type Resource } from "@isthmus/core";
import { systemClock } from "@isthmus/plane";
import { demoClusters, type SimulatedCluster, simulatedCluster, startControllers } from "@isthmus/simulator";
import { EVIL, GOOD, NAMESPACE } from "../drawing/fleetObjects.ts";

export const SILENT: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** A good cluster, as the demo's controllers bring it to life: with pods, endpoints and addresses of its gateways. */
export async function goodCluster(name: string, signal: AbortSignal): Promise<SimulatedCluster> {
  const cluster = simulatedCluster({ name, clock: systemClock, kinds: allKinds() });
  const demos = Object.values(demoClusters());
  cluster.load([namespace(NAMESPACE), ...(demos[GOOD.indexOf(name)] ?? [])]);
  void startControllers(cluster, { clock: systemClock, log: SILENT }, signal);
  let before = "";
  for (let now = versionsOf(cluster); now !== before || !now.includes("Pod"); now = versionsOf(cluster)) {
    before = now;
    await sleep(150);
  }
  return cluster;
}

function namespace(name: string): Resource {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

function versionsOf(cluster: SimulatedCluster): string {
  return cluster
    .objects()
    .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion ?? ""}`)
    .join();
}

/** What the agents of the good clusters report. */
export async function goodObjects(): Promise<readonly Resource[]> {
  const stop = new AbortController();
  const clusters = await Promise.all(GOOD.map((name) => goodCluster(name, stop.signal)));
  stop.abort(new Error("the clusters stand"));
  return clusters.flatMap((cluster) => cluster.objects().flatMap((object) => asSent(object, cluster.name)));
}

const SENT: ReadonlySet<string> = new Set(agentKinds().map(kindKeyOf));

function asSent(object: AnyResource, clusterName: string): readonly Resource[] {
  const kind = kindOf(object.apiVersion, object.kind);
  if (kind === undefined || !SENT.has(kindKeyOf(kind))) return [];
  const parsed = inCluster(kind.parse(object), clusterName);
  return [kind.project?.(parsed) ?? parsed];
}

/** What the operator of the plane wrote: all clusters may join, the good ones form a mesh, and each one's users stay within it. */
export function operatorsObjects(): readonly Resource[] {
  const registered = [...GOOD, EVIL].map((name) => of(KubernetesCluster, name, { spec: { clusterDomain: "cluster.local" } }));
  return [
    ...registered,
    of(Settings, "settings", { spec: { workloadClusterResources: { targets: "OWN_DESTINATIONS" } } }),
    of(VirtualMesh, "good", {
      spec: {
        meshes: GOOD.map((name) => ({ name: `istiod-istio-system-${name}`, namespace: NAMESPACE })),
        mtlsConfig: { trustModel: { shared: {} } },
        federation: { permissive: {} },
        globalAccessPolicy: "ENABLED",
      },
    }),
    of(TrafficPolicy, "timeout", {
      spec: {
        destinationSelector: [{ kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "reviews" }, clusters: [...GOOD] } }],
        policy: { requestTimeout: "2s" },
      },
    }),
    {
      apiVersion: "networking.mesh.gloo.solo.io/v1",
      kind: "AccessPolicy",
      metadata: { name: "reviews", namespace: NAMESPACE },
      spec: {
        sourceSelector: [
          { kubeServiceAccountRefs: { serviceAccounts: [{ name: "bookinfo-productpage", namespace: "bookinfo", clusterName: "good-1" }] } },
        ],
        destinationSelector: [{ kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "reviews" }, clusters: [...GOOD] } }],
      },
    } as Resource,
  ].map((resource) => kindOf(resource.apiVersion, resource.kind)?.parse(resource) ?? resource);
}

function of({ apiVersion, kind }: Pick<Resource, "apiVersion" | "kind">, name: string, content: object): Resource {
  return { apiVersion, kind, metadata: { name, namespace: NAMESPACE }, ...content };
}
