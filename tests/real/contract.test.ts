import { kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import { clusterContract } from "@isthmus/testing";
import { clock, clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { startFleet } from "./harness/fleet.ts";
import { installCrds } from "./harness/manifests.ts";
import { ourCrds } from "./harness/meshCluster.ts";

describeReal("the contract that the simulator keeps", (components) => {
  clusterContract("a real kube-apiserver", async () => {
    // Fresh: its API server restarts.
    const fleet = await startFleet(components, ["contract"], { fresh: true });
    const server = fleet.servers.contract;
    await installCrds(clusterOf(server, "contract"), ourCrds());
    // An API server that has just started has forgotten what was before, as one has that runs for long.
    await server.restart();
    // An API server gives a bookmark once a minute, and shortly before it ends a watch.
    const kubeconfig = loadKubeconfig({ path: server.kubeconfig });
    const cluster = kubernetesCluster({ name: "contract", kubeconfig, watchSeconds: [8, 8], clock, random: Math.random });
    return { cluster, stop: () => fleet.stop() };
  });
});
