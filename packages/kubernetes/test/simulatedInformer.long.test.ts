import { setTimeout as sleep } from "node:timers/promises";
import { simulatedCluster } from "@isthmus/simulator";
import { serveCluster } from "@isthmus/simulator/restApi";
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from "@kubernetes/client-node";
import { expect, it, onTestFinished } from "vitest";

const clock = {
  now: () => Date.now(),
  sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
};

it("informers of the Kubernetes client follow a simulated cluster", async () => {
  const server = await serveCluster({ cluster: simulatedCluster({ name: "", clock }) });
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: "one", server: server.url, caData: Buffer.from(server.ca).toString("base64"), skipTLSVerify: false }],
    users: [{ name: "one", token: server.token }],
    contexts: [{ name: "one", cluster: "one", user: "one" }],
    currentContext: "one",
  });
  const api = config.makeApiClient(CoreV1Api);
  const named = (name: string, data: Record<string, string>): V1ConfigMap => ({ metadata: { name }, data });
  await api.createNamespacedConfigMap({ namespace: "default", body: named("early", { a: "1" }) });

  const seen: string[] = [];
  const informer = makeInformer<V1ConfigMap>(config, "/api/v1/namespaces/default/configmaps", () =>
    api.listNamespacedConfigMap({ namespace: "default" }),
  );
  for (const verb of ["add", "update", "delete"] as const) {
    informer.on(verb, ({ metadata, data }) => void seen.push(`${verb} ${metadata?.name} ${data?.["a"]}`));
  }
  onTestFinished(async () => {
    await informer.stop();
    await server.close();
  });
  await informer.start();
  await api.createNamespacedConfigMap({ namespace: "default", body: named("late", { a: "1" }) });
  await api.replaceNamespacedConfigMap({ namespace: "default", name: "late", body: named("late", { a: "2" }) });
  await api.deleteNamespacedConfigMap({ namespace: "default", name: "late" });
  await expect.poll(() => seen).toEqual(["add early 1", "add late 1", "update late 2", "delete late 2"]);
});
