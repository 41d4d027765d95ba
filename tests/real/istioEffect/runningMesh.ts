import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { waitFor } from "../harness/waitFor.ts";
import { type Installation, meshConfigMap } from "./engineVerdicts.ts";
import type { Istiod } from "./istiod.ts";
import { connectProxies, type ProxyPod } from "./proxies.ts";

const WRITER = { fieldManager: "person", force: true };
const AT_A_TIME = 8;

/** Applies objects, several at a time, with the statuses that they have. */
export async function write(cluster: Cluster, objects: readonly AnyResource[]): Promise<void> {
  const left = [...objects];
  const next = async (): Promise<void> => {
    for (let object = left.shift(); object !== undefined; object = left.shift()) {
      const { status, ...rest } = object as AnyResource & { readonly status?: unknown };
      await cluster.apply(rest as AnyResource, WRITER);
      const { spec: _, ...named } = rest as AnyResource & { readonly spec?: unknown };
      if (status !== undefined)
        await cluster.applyStatus({ ...named, status } as unknown as AnyResource, { ...WRITER, fieldManager: "kubelet" });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, next));
}

/** Makes an installation the one that istiod has, with these rules, and gives what its proxies get then. */
export async function listenersIn(
  { worlds, meshConfig, surroundings }: Installation,
  { cluster, istiod, rules }: { readonly cluster: Cluster; readonly istiod: Istiod; readonly rules: readonly AnyResource[] },
): Promise<ReadonlyMap<ProxyPod, unknown>> {
  await write(cluster, [...surroundings.objects, ...rules, markerRule(surroundings.rootNamespace), meshConfigMap(meshConfig)]);
  const proxies = connectProxies(istiod);
  try {
    const domain = surroundings.trustDomain || "cluster.local";
    await waitFor(`istiod to have the mesh of ${surroundings.rootNamespace}`, async () => {
      const text = JSON.stringify(await proxies.listenersOf(MARKER));
      return text.includes(`ns[${surroundings.rootNamespace}]-policy[marker]`) && text.includes(`spiffe://${domain}/ns/marker/sa/marker`);
    });
    const pods = worlds.flatMap(({ services }) => services.flatMap((service) => service.pods));
    return new Map(await Promise.all(pods.map(async (pod) => [pod, await proxies.listenersOf(pod)] as const)));
  } finally {
    proxies.close();
  }
}

/** A proxy that shows which root namespace and which trust domain istiod has taken up. */
const MARKER: ProxyPod = { name: "marker", namespace: "marker", ip: "10.19.0.1", serviceAccount: "marker", labels: { app: "marker" } };

function markerRule(rootNamespace: string): AnyResource {
  return {
    apiVersion: "security.istio.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { name: "marker", namespace: rootNamespace },
    spec: {
      selector: { matchLabels: MARKER.labels },
      rules: [{ from: [{ source: { principals: ["cluster.local/ns/marker/sa/marker"] } }] }],
    },
  } as AnyResource;
}
