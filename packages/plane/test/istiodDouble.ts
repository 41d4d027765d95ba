import { ConfigMap, Pod, Secret } from "@isthmus/api";
import { createMeshRoot } from "@isthmus/certificates";
import type { SimulatedCluster } from "@isthmus/simulator";
import { secretOf, secretTexts } from "../src/identity/secretData.ts";
import { clock } from "./virtualTime.ts";

/** What proxies of one namespace or all got when they started. */
export interface IstiodDouble {
  /** Reads Secret `cacerts`, as a control plane does when it starts, and hands out its roots. `app`: of the revision; default: all. */
  restart(app?: string): Promise<void>;
  /** Reads Secret `cacerts` while it runs, as one does that has several roots at a time. */
  reload(): Promise<void>;
  /** Hands out the roots that its newest pod has read, as often as it is replaced, until aborted. */
  serve(signal: AbortSignal): Promise<void>;
  /** Restarts every proxy. */
  restartProxies(): Promise<void>;
  /** The roots that are handed out, PEM. */
  roots(): string;
}

/** Does in a simulated cluster what istiod does with certificates, and no more. It begins with a CA of its own. */
export async function istiodDouble(cluster: SimulatedCluster): Promise<IstiodDouble> {
  const options = { commonName: `own of ${cluster.name}`, organization: "cluster.local", lifetimeMs: 3650 * 86_400_000, now: clock.now() };
  const own = await createMeshRoot(options, "P-256");
  await cluster.create(
    secretOf({ name: "istio-ca-secret", namespace: "istio-system" }, { "ca-cert.pem": own.certificate, "ca-key.pem": own.key }),
  );
  let roots = own.certificate;

  async function handOut(): Promise<void> {
    const { items } = await cluster.list(Pod);
    for (const namespace of new Set(["istio-system", ...items.map(({ metadata }) => metadata.namespace ?? "")])) {
      const ref = { name: "istio-ca-root-cert", namespace };
      const found = await cluster.get(ConfigMap, ref);
      const next = { apiVersion: "v1", kind: "ConfigMap", metadata: found?.metadata ?? ref, data: { "root-cert.pem": roots } } as ConfigMap;
      await (found === undefined ? cluster.create(next) : cluster.update(next));
    }
  }

  async function readSecret(): Promise<void> {
    const secret = await cluster.get(Secret, { name: "cacerts", namespace: "istio-system" });
    roots = (secret === undefined ? undefined : secretTexts(secret)["root-cert.pem"]) ?? own.certificate;
    await handOut();
  }

  async function deletePods(isMeant: (pod: Pod) => boolean): Promise<void> {
    const { items } = await cluster.list(Pod);
    for (const { apiVersion, kind, metadata } of items.filter(isMeant)) {
      const { name, namespace = "" } = metadata;
      await cluster.delete({ apiVersion, kind, name, namespace, clusterName: cluster.name });
    }
  }

  const isIstiod = ({ metadata }: Pod) => metadata.labels?.["istio"] === "pilot";
  await handOut();
  return {
    async restart(app) {
      await deletePods((pod) => isIstiod(pod) && (app === undefined || pod.metadata.labels?.["app"] === app));
      await readSecret();
    },
    reload: readSecret,
    async serve(signal) {
      let newest: string | undefined;
      while (!signal.aborted) {
        await clock.sleep(1_000, signal).catch(() => undefined);
        const { items } = await cluster.list(Pod);
        const [pod] = items.filter((one) => isIstiod(one) && one.metadata.namespace === "istio-system");
        if (pod === undefined || pod.metadata.uid === newest) continue;
        newest = pod.metadata.uid;
        await readSecret();
      }
    },
    restartProxies: () => deletePods((pod) => !isIstiod(pod)),
    roots: () => roots,
  };
}
