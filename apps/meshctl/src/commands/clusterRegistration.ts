import { UsageError } from "@isthmus/core";
import { Command } from "commander";
import { type Connect, inManagementCluster } from "../cluster/managementCluster.ts";
import type { GivenAddress } from "../cluster/registration.ts";
import type { Io } from "../io.ts";

/** Gives access to the cluster that is registered, and says how it is reached. */
export type ConnectRemote = (place: {
  readonly kubeconfig?: string;
  readonly context?: string;
}) => Promise<{ readonly cluster: Awaited<ReturnType<Connect>>; readonly address: GivenAddress }>;

interface Options {
  readonly clusterName?: string;
  readonly kubeconfig?: string;
  readonly remoteContext?: string;
  readonly mgmtKubeconfig?: string;
  readonly mgmtContext?: string;
  readonly mgmtNamespace: string;
  readonly remoteNamespace: string;
  readonly clusterDomain: string;
  readonly apiServerAddress?: string;
}

/** The cluster of a kubeconfig, as its current user. */
export const connectRemote: ConnectRemote = async ({ kubeconfig: path, context }) => {
  const { kubernetesCluster, loadKubeconfig } = await import("@isthmus/kubernetes");
  const { systemClock } = await import("@isthmus/plane");
  const kubeconfig = loadKubeconfig({ ...(path === undefined ? {} : { path }), ...(context === undefined ? {} : { context }) });
  const { tls } = await kubeconfig.credentials(false);
  const ca = tls.ca === undefined ? undefined : String(tls.ca);
  const cluster = kubernetesCluster({ name: "", kubeconfig, clock: systemClock, random: Math.random });
  const { servername: tlsServerName } = tls;
  const given = { server: kubeconfig.server, ca, isUnverified: tls.rejectUnauthorized === false };
  return { cluster, address: { ...given, ...(tlsServerName === undefined ? {} : { tlsServerName }) } };
};

/** `meshctl cluster register` and `deregister`, for clusters that the server connects to without an agent. */
export function registrationCommands(io: Io, connect: Connect, toRemote: ConnectRemote): readonly Command[] {
  return [
    withPlaces(new Command("register"))
      .description(
        "Register a cluster without an agent: creates a ServiceAccount in it and stores its kubeconfig for the management server.",
      )
      .option("--cluster-domain <domain>", "DNS domain of services in the cluster", "cluster.local")
      .option("--api-server-address <host[:port]>", "API server address for the management server, if it differs from your kubeconfig")
      .addHelpText("after", HELP)
      .action((name: string | undefined, options: Options) => register(nameOf(name, options), options)),
    withPlaces(new Command("deregister"))
      .description("Undo register. Resources in that cluster are kept; resources generated from it in other clusters are deleted.")
      .action((name: string | undefined, options: Options) => deregister(nameOf(name, options), options)),
  ];

  async function register(clusterName: string, options: Options): Promise<void> {
    const { addressFor, registerCluster } = await import("../cluster/registration.ts");
    const { systemClock } = await import("@isthmus/plane");
    const { cluster: remote, address } = await toRemote(remotePlace(options));
    const where = addressFor(address, options.apiServerAddress);
    await inManagementCluster(managementPlace(options), connect, (management) =>
      registerCluster({
        management,
        remote,
        clusterName,
        managementNamespace: options.mgmtNamespace,
        remoteNamespace: options.remoteNamespace,
        clusterDomain: options.clusterDomain,
        address: where,
        clock: systemClock,
        say: (line) => io.err(`${line}\n`),
      }),
    );
    if (where.tlsServerName !== undefined) {
      io.err(`The server connects to ${where.server} and expects a certificate for ${where.tlsServerName}.\n`);
    }
  }

  async function deregister(clusterName: string, options: Options): Promise<void> {
    const { deregisterCluster } = await import("../cluster/registration.ts");
    const { cluster: remote } = await toRemote(remotePlace(options));
    await inManagementCluster(managementPlace(options), connect, (management) =>
      deregisterCluster({
        management,
        remote,
        clusterName,
        managementNamespace: options.mgmtNamespace,
        remoteNamespace: options.remoteNamespace,
        say: (line) => io.err(`${line}\n`),
      }),
    );
  }
}

function withPlaces(command: Command): Command {
  return command
    .argument("[name]", "name of the cluster; same as --cluster-name")
    .option("--cluster-name <name>", "name of the cluster")
    .option("--kubeconfig <file>", "kubeconfig of the cluster; default: KUBECONFIG, or the home directory")
    .option("--remote-context <name>", "context of the cluster; default: the current one")
    .option("--remote-namespace <name>", "namespace in the cluster", "gloo-mesh")
    .option("--mgmt-kubeconfig <file>", "kubeconfig of the management cluster; default: as --kubeconfig")
    .option("--mgmt-context <name>", "context of the management cluster; default: the current one")
    .option("--mgmt-namespace <name>", "namespace of the management plane", "gloo-mesh")
    .allowExcessArguments(false);
}

function nameOf(argument: string | undefined, { clusterName }: Options): string {
  const name = argument ?? clusterName;
  if (name === undefined || name === "") throw new UsageError("no cluster name: pass it as an argument, or with --cluster-name");
  return name;
}

function remotePlace({ kubeconfig, remoteContext }: Options): Parameters<ConnectRemote>[0] {
  return { ...(kubeconfig === undefined ? {} : { kubeconfig }), ...(remoteContext === undefined ? {} : { context: remoteContext }) };
}

function managementPlace({ kubeconfig, mgmtKubeconfig = kubeconfig, mgmtContext, mgmtNamespace }: Options): Parameters<Connect>[0] {
  return {
    namespace: mgmtNamespace,
    ...(mgmtKubeconfig === undefined ? {} : { kubeconfig: mgmtKubeconfig }),
    ...(mgmtContext === undefined ? {} : { context: mgmtContext }),
  };
}

const HELP = `
Can be repeated: existing objects are kept, and objects not created by meshctl are never overwritten.

Examples:
  meshctl cluster register --cluster-name east --remote-context east --mgmt-context mgmt

  # A cluster on this machine, which the server reaches at a different address
  meshctl cluster register east --remote-context kind-east --api-server-address host.docker.internal`;
