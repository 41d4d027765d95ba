import { TrafficPolicy } from "@isthmus/api";
import { kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import { clusterContract } from "@isthmus/testing";
import { simulatedCluster } from "../../src/index.ts";
import { serveCluster } from "../../src/restApi/index.ts";
import { systemClock } from "./servedCluster.ts";

// The client of real clusters, on sockets: what the loops rely on holds there, too.
clusterContract("a simulated cluster that is served", async () => {
  const cluster = simulatedCluster({ name: "", clock: systemClock, kinds: [TrafficPolicy] });
  const server = await serveCluster({ cluster, bookmarkMs: 1_000 });
  const kubeconfig = loadKubeconfig({
    text: JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "one",
      clusters: [{ name: "one", cluster: { server: server.url, "certificate-authority-data": Buffer.from(server.ca).toString("base64") } }],
      users: [{ name: "one", user: { token: server.token } }],
      contexts: [{ name: "one", context: { cluster: "one", user: "one" } }],
    }),
  });
  const client = kubernetesCluster({ name: "cluster-1", kubeconfig, watchSeconds: [8, 8], clock: systemClock, random: Math.random });
  return { cluster: client, stop: () => server.close() };
});
