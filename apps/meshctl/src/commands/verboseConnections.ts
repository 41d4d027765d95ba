import type { ApiServer } from "@isthmus/kubernetes";
import type { ReadAdminPage } from "../cluster/adminPort.ts";
import type { ConnectApiServer } from "../cluster/apiServer.ts";
import type { Connect, ManagementTarget } from "../cluster/managementCluster.ts";
import type { ConnectRemote, RemoteAccess } from "./cluster/registrationOptions.ts";
import type { AdjustableIo } from "./commandLine/loudness.ts";

interface Connections {
  readonly connect: Connect;
  readonly connectApiServer: ConnectApiServer;
  readonly connectRemote: ConnectRemote;
  readonly readAdminPage: ReadAdminPage;
  readonly now: () => number;
}

/** The same ways to clusters: with `-v` they say which ones they lead to, with `-v 2` also what is asked there. */
export function verboseConnections(
  { connect, connectApiServer, connectRemote, readAdminPage, now }: Connections,
  io: AdjustableIo,
): Connections {
  const log = { say: (line: string) => io.detail(2, line), now };
  async function logged<C extends Awaited<ReturnType<Connect>>>(cluster: C): Promise<Awaited<ReturnType<Connect>>> {
    if (io.verbosity < 2) return cluster;
    const { loggedCluster } = await import("../cluster/loggedCluster.ts");
    return loggedCluster(cluster, log);
  }
  async function loggedServer(api: ApiServer): Promise<ApiServer> {
    if (io.verbosity < 2) return api;
    const { loggedApiServer } = await import("../cluster/loggedApiServer.ts");
    return loggedApiServer(api, log);
  }
  async function loggedLog(read: RemoteAccess["log"]): Promise<Pick<RemoteAccess, "log">> {
    if (read === undefined || io.verbosity < 2) return {};
    const { timedRequests } = await import("../cluster/timedRequests.ts");
    return { log: (pod) => timedRequests(log)(`log of pod ${pod.namespace}/${pod.name}`, read(pod)) };
  }
  return {
    now,
    connect: async (place) => {
      io.detail(1, `objects are read and written in ${placeText(place)}`);
      return logged(await connect(place));
    },
    connectApiServer: async (place) => {
      io.detail(1, `versions, permissions, logs and ports of pods are asked for in ${placeText(place)}`);
      return loggedServer(await connectApiServer(place));
    },
    connectRemote: async (place) => {
      io.detail(1, `the cluster to register is ${placeText(place)}`);
      const access = await connectRemote(place);
      const api = access.api === undefined ? {} : { api: await loggedServer(access.api) };
      return { ...access, ...api, ...(await loggedLog(access.log)), cluster: await logged(access.cluster) };
    },
    readAdminPage: async (address, path, signal) => {
      if (io.verbosity < 2) return readAdminPage(address, path, signal);
      const { timedRequests } = await import("../cluster/timedRequests.ts");
      return timedRequests(log)(
        `get ${path} of ${originOf(address.url)}`,
        readAdminPage(address, path, signal),
        ({ length }) => `${length} characters`,
      );
    },
  };
}

/** Without a password, which an address may contain. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "an address that is no URL";
}

function placeText({ kubeconfig, context }: Pick<ManagementTarget, "kubeconfig" | "context">): string {
  const file = kubeconfig === undefined ? "the kubeconfig of KUBECONFIG or the home directory" : `kubeconfig ${kubeconfig}`;
  return `${context === undefined ? "the current context" : `context ${context}`} of ${file}`;
}
