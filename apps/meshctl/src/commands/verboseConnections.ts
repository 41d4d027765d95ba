import type { ConnectApiServer } from "../cluster/apiServer.ts";
import type { Connect, ManagementTarget } from "../cluster/managementCluster.ts";
import type { AdjustableIo } from "./loudness.ts";
import type { ConnectRemote } from "./registrationOptions.ts";

interface Connections {
  readonly connect: Connect;
  readonly connectApiServer: ConnectApiServer;
  readonly connectRemote: ConnectRemote;
  readonly now: () => number;
}

/** The same ways to clusters: with `-v` they say which ones they lead to, with `-v 2` also what is asked there. */
export function verboseConnections({ connect, connectApiServer, connectRemote, now }: Connections, io: AdjustableIo): Connections {
  async function logged<C extends Awaited<ReturnType<Connect>>>(cluster: C): Promise<Awaited<ReturnType<Connect>>> {
    if (io.verbosity < 2) return cluster;
    const { loggedCluster } = await import("../cluster/loggedCluster.ts");
    return loggedCluster(cluster, { say: (line) => io.detail(2, line), now });
  }
  return {
    now,
    connect: async (place) => {
      io.detail(1, `objects are read and written in ${placeText(place)}`);
      return logged(await connect(place));
    },
    connectApiServer: async (place) => {
      io.detail(1, `versions, permissions, logs and ports of pods are asked for in ${placeText(place)}`);
      return connectApiServer(place);
    },
    connectRemote: async (place) => {
      io.detail(1, `the cluster to register is ${placeText(place)}`);
      const access = await connectRemote(place);
      return { ...access, cluster: await logged(access.cluster) };
    },
  };
}

function placeText({ kubeconfig, context }: Pick<ManagementTarget, "kubeconfig" | "context">): string {
  const file = kubeconfig === undefined ? "the kubeconfig of KUBECONFIG or the home directory" : `kubeconfig ${kubeconfig}`;
  return `${context === undefined ? "the current context" : `context ${context}`} of ${file}`;
}
