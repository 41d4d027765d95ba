import { type Generation, NAMES } from "@isthmus/plane";
import {
  type AdminTlsFlags,
  addAdminTlsOptions,
  adminTlsIn,
  isOn,
  namespaceNames,
  parsedOptions,
  portNumber,
  type TlsFiles,
} from "@isthmus/process";
import { addStoreOptions, type StoreConfig, type StoreFlags, storeConfig } from "@isthmus/store/options";
import { Command, InvalidArgumentError, Option } from "commander";
import { version } from "../package.json";

/** The settings of a management server; the command line wins over the environment. */
export interface ServerConfig {
  readonly namespace: string;
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** The admin port's certificate and key; undefined: it speaks plain HTTP. */
  readonly adminTls: TlsFiles | undefined;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** The relay identity token, when it does not come from its Secret. */
  readonly token: string | undefined;
  /** Whether agents get client certificates and must show them; else they show the token on each call. */
  readonly clientCertificates: boolean;
  /** Whether anybody may ask which gRPC services there are. */
  readonly reflection: boolean;
  /** Connections that are open at a time: of all, and from one address. */
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly disallowIntersectingConfig: boolean;
  /** Whether Events say which insights begin and end. */
  readonly insightEvents: boolean;
  readonly serverNames: readonly string[];
  /** Of this program. */
  readonly version: string;
  readonly replica: string;
  readonly store: StoreConfig;
  /** Whether there are several replicas, one of which writes into the management cluster. */
  readonly leaderElection: boolean;
  /** The name of the management cluster as the one workload cluster, which is then written directly. */
  readonly singleCluster: string | undefined;
  /** Namespaces that are written in clusters without an agent; `*` is all but Kubernetes' own. */
  readonly writeNamespaces: ReadonlySet<string>;
  /** Which names the product bears. */
  readonly generation: Generation;
  readonly verbose: boolean;
}

type Defaulted = "version" | "adminTls" | "writeNamespaces" | "replica" | "leaderElection" | "generation" | "verbose";

/** What the command line gives. */
interface Options
  extends Omit<
      ServerConfig,
      "token" | "clientCertificates" | "reflection" | "disallowIntersectingConfig" | "serverNames" | "store" | Defaulted
    >,
    StoreFlags,
    AdminTlsFlags {
  readonly relayToken?: string;
  readonly disableClientCertificates?: boolean;
  readonly reflection?: boolean;
  readonly disallowIntersectingConfig?: boolean;
  readonly serverName?: readonly string[];
  readonly replica?: string;
  readonly writeNamespaces: readonly string[];
  readonly leaderElection?: boolean;
  readonly legacyNames?: boolean;
  readonly verbose?: boolean;
}

/** Reads the command line (without node and script) and the environment. Throws UsageError, or exits after --help. */
export function readServerConfig(argv: readonly string[]): ServerConfig {
  const command = new Command("gloo-mesh-mgmt-server")
    .version(version, "-V, --version", "print the version")
    .description(
      "Collects the state of clusters from their agents, translates policies, and sends each agent the desired state of its cluster.",
    )
    .addOption(new Option("--namespace <name>", "namespace of the management plane").env("POD_NAMESPACE").default("gloo-mesh"))
    .addOption(new Option("--host <address>", "address that agents connect to").default("0.0.0.0"))
    .addOption(new Option("--port <number>", "port that agents connect to").default(9900).argParser(portNumber))
    .addOption(new Option("--admin-host <address>", "bind address of metrics and health").default("0.0.0.0"))
    .addOption(
      new Option("--admin-port <number>", "port of metrics and health; 0 selects any free port").default(9091).argParser(portNumber),
    )
    .addOption(
      new Option(
        "--kubeconfig <file>",
        "kubeconfig of the management cluster; default: KUBECONFIG, the home directory, or the service account of the pod",
      ),
    )
    .addOption(new Option("--context <name>", "context of the kubeconfig; default: its current one"))
    .addOption(
      new Option("--relay-token <text>", "relay identity token; default: the Secret relay-identity-token-secret").env("RELAY_TOKEN"),
    )
    .addOption(new Option("--disable-client-certificates", "TLS without client certificates: agents authenticate each call with the token"))
    .addOption(
      new Option("--max-connections <number>", "maximum number of open connections to the agents' port")
        .default(10_000)
        .argParser(connectionCount),
    )
    .addOption(
      new Option(
        "--max-connections-per-address <number>",
        "maximum number of open connections from one address; behind a load balancer all agents have the same address",
      )
        .default(2_000)
        .argParser(connectionCount),
    )
    .addOption(new Option("--reflection", "enable gRPC reflection, without authentication, for tools such as grpcurl"))
    .addOption(
      new Option("--disallow-intersecting-config", "reject policies whose host is already configured by a user-created Istio resource"),
    )
    .addOption(new Option("--no-insight-events", "write no Kubernetes Events when insights of severity error or warning begin or end"))
    .addOption(new Option("--server-name <dns name...>", "additional names in the generated server certificate"))
    .addOption(new Option("--replica <name>", "name of this replica in logs and status; default: gloo-mesh-mgmt-server").env("POD_NAME"))
    .addOption(new Option("--leader-election", "elect a leader among several replicas with the Lease gloo-mesh-mgmt-server"))
    .addOption(new Option("--single-cluster <name>", "also manage the mesh of the management cluster, with this name and without an agent"))
    .addOption(
      new Option(
        "--write-namespaces <name...>",
        "namespaces that may be written to in clusters without an agent; * is all except kube-system, kube-public and kube-node-lease, which must be named",
      ).default(["*"]),
    )
    .addOption(new Option("--legacy-names", "use the legacy names enterprise-networking and enterprise-agent"))
    .addOption(new Option("--verbose", "log in detail"));
  const options = parsedOptions<Options>(addAdminTlsOptions(addStoreOptions(command)), argv);
  const generation = options.legacyNames === true || isOn(process.env["LEGACY_NAMES"]) ? "enterprise" : "gloo-mesh";
  return {
    namespace: options.namespace,
    host: options.host,
    port: options.port,
    adminHost: options.adminHost,
    adminPort: options.adminPort,
    adminTls: adminTlsIn(options),
    kubeconfig: options.kubeconfig,
    context: options.context,
    token: options.relayToken,
    clientCertificates: !(
      options.disableClientCertificates === true || isOn(process.env["RELAY_DISABLE_CLIENT_CERTIFICATE_AUTHENTICATION"])
    ),
    reflection: options.reflection === true,
    maxConnections: options.maxConnections,
    maxConnectionsPerAddress: options.maxConnectionsPerAddress,
    disallowIntersectingConfig: options.disallowIntersectingConfig === true,
    insightEvents: options.insightEvents,
    serverNames: options.serverName ?? [],
    store: storeConfig(options, process.env),
    version,
    replica: options.replica ?? NAMES[generation].server,
    leaderElection: options.leaderElection === true || isOn(process.env["LEADER_ELECTION"]),
    writeNamespaces: namespaceNames("--write-namespaces", options.writeNamespaces),
    singleCluster: options.singleCluster,
    generation,
    verbose: options.verbose === true,
  };
}

function connectionCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,7}$/.test(text) || count < 1) throw new InvalidArgumentError(`${text} is not a number of connections from 1 to 9999999`);
  return count;
}
