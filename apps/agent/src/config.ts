import { isClusterName, UsageError } from "@isthmus/core";
import { type AgentLimits, type Generation, NAMES } from "@isthmus/plane";
import {
  type AdminTls,
  type AdminTlsFlags,
  addAdminTlsOptions,
  adminTlsIn,
  isOn,
  namespaceNames,
  objectCount,
  parsedOptions,
  percentage,
  portNumber,
} from "@isthmus/process";
import { Command, Option } from "commander";
import { version } from "../package.json";

/** The settings of an agent; the command line wins over the environment. */
export interface Config {
  /** The name under which this cluster is registered. */
  readonly clusterName: string;
  /** host:port of the management server. */
  readonly serverAddress: string;
  /** The name that the server's certificate must bear. */
  readonly authority: string;
  readonly namespace: string;
  /** Namespace of the management plane: the value of the owner label of what it wants here. */
  readonly managementNamespace: string;
  readonly adminHost: string;
  readonly adminPort: number;
  /** The admin port's certificate and key; undefined: it speaks plain HTTP. */
  readonly adminTls: AdminTls | undefined;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly token: string | undefined;
  readonly clientCertificates: boolean;
  /** False, for tests alone: whoever answers is taken for the management server. */
  readonly verifiesServer: boolean;
  readonly instance: string;
  /** What the management server may have done here at most. */
  readonly limits: AgentLimits;
  /** Whether there are several replicas of this agent, one of which leads. */
  readonly leaderElection: boolean;
  /** Which names the product bears. */
  readonly generation: Generation;
  readonly verbose: boolean;
}

type Defaulted = "adminTls" | "limits" | "instance" | "leaderElection" | "generation" | "verbose";

/** What the command line gives. */
interface Options
  extends Omit<Config, "clusterName" | "serverAddress" | "authority" | "token" | "clientCertificates" | "verifiesServer" | Defaulted>,
    AdminTlsFlags {
  readonly cluster: string;
  readonly relayAddress: string;
  readonly relayAuthority?: string;
  readonly instance?: string;
  readonly writeNamespaces: readonly string[];
  readonly readNamespaces: readonly string[];
  readonly deleteBudgetPercent: number;
  readonly deleteBudgetObjects: number;
  readonly removalsPerHourPercent: number;
  readonly removalsPerHourObjects: number;
  readonly leaderElection?: boolean;
  readonly legacyNames?: boolean;
  readonly relayToken?: string;
  readonly disableClientCertificates?: boolean;
  readonly verbose?: boolean;
}

/** Reads the command line (without node and script) and the environment. Throws UsageError, or exits after --help. */
export function readConfig(argv: readonly string[]): Config {
  const command = new Command("gloo-mesh-agent")
    .version(version, "-V, --version", "print the version and nothing else")
    .description("Reports what its cluster holds to the management server, and makes the cluster hold what the server wants.")
    .addOption(new Option("--cluster <name>", "name under which this cluster is registered").env("CLUSTER").makeOptionMandatory())
    .addOption(new Option("--relay-address <host:port>", "the management server").env("RELAY_ADDRESS").makeOptionMandatory())
    .addOption(
      new Option("--relay-authority <name>", "name in the server's certificate; default: gloo-mesh-mgmt-server.gloo-mesh").env(
        "RELAY_AUTHORITY",
      ),
    )
    .addOption(new Option("--namespace <name>", "namespace of the agent").env("POD_NAMESPACE").default("gloo-mesh"))
    .addOption(new Option("--management-namespace <name>", "namespace of the management plane in its cluster").default("gloo-mesh"))
    .addOption(new Option("--admin-host <address>", "address of metrics and health").default("0.0.0.0"))
    .addOption(new Option("--admin-port <number>", "port of metrics and health; 0 takes any").default(9091).argParser(portNumber))
    .addOption(
      new Option("--kubeconfig <file>", "kubeconfig of this cluster; default: KUBECONFIG, the home directory, or the pod's own account"),
    )
    .addOption(new Option("--context <name>", "context of the kubeconfig; default: its current one"))
    .addOption(
      new Option("--relay-token <text>", "relay identity token; default: the Secret relay-identity-token-secret").env("RELAY_TOKEN"),
    )
    .addOption(new Option("--disable-client-certificates", "TLS-only setup: show the token on each call instead of a certificate"))
    .addOption(new Option("--instance <name>", "name of this agent in logs of the server; default: gloo-mesh-agent").env("POD_NAME"))
    .addOption(
      new Option(
        "--write-namespaces <name...>",
        "namespaces that the server may have written; * is all but kube-system, kube-public and kube-node-lease, which must be named",
      ).default(["*"]),
    )
    .addOption(
      new Option(
        "--read-namespaces <name...>",
        "namespaces whose services, workloads and mesh objects the server hears of, within what discovery looks into; * is all",
      ).default(["*"]),
    )
    .addOption(
      new Option("--delete-budget-percent <number>", "the most that relay.deleteBudget.percent of the plane's Settings may be here")
        .default(20)
        .argParser(percentage),
    )
    .addOption(
      new Option("--delete-budget-objects <number>", "the most that relay.deleteBudget.objects of the plane's Settings may be here")
        .default(50)
        .argParser(objectCount),
    )
    .addOption(
      new Option(
        "--removals-per-hour-percent <number>",
        "share of our objects that may be removed within an hour, whatever the server says; 100 is no limit",
      )
        .default(100)
        .argParser(percentage),
    )
    .addOption(
      new Option("--removals-per-hour-objects <number>", "number of objects that may be removed within an hour, if that is more")
        .default(50)
        .argParser(objectCount),
    )
    .addOption(new Option("--leader-election", "there are several replicas: one of them leads, by the Lease gloo-mesh-agent"))
    .addOption(new Option("--legacy-names", "names of the first generation: enterprise-agent, enterprise-networking"))
    .addOption(new Option("--verbose", "log what is done in detail"));
  const options = parsedOptions<Options>(addAdminTlsOptions(command), argv);
  const clusterName = options.cluster;
  if (!isClusterName(clusterName)) {
    throw new UsageError(`--cluster ${clusterName}: a cluster name has lower-case letters, digits and hyphens only, at most 63`);
  }
  const generation = options.legacyNames === true || isOn(process.env["LEGACY_NAMES"]) ? "enterprise" : "gloo-mesh";
  return {
    clusterName,
    serverAddress: options.relayAddress,
    authority: options.relayAuthority ?? `${NAMES[generation].server}.gloo-mesh`,
    namespace: options.namespace,
    managementNamespace: options.managementNamespace,
    adminHost: options.adminHost,
    adminPort: options.adminPort,
    adminTls: adminTlsIn(options),
    kubeconfig: options.kubeconfig,
    context: options.context,
    token: options.relayToken,
    clientCertificates: !(
      options.disableClientCertificates === true || isOn(process.env["RELAY_DISABLE_CLIENT_CERTIFICATE_AUTHENTICATION"])
    ),
    verifiesServer: !isOn(process.env["RELAY_DISABLE_SERVER_CERTIFICATE_VALIDATION"]),
    limits: limitsIn(options),
    instance: options.instance ?? NAMES[generation].agent,
    leaderElection: options.leaderElection === true || isOn(process.env["LEADER_ELECTION"]),
    generation,
    verbose: options.verbose === true,
  };
}

function limitsIn(options: Options): AgentLimits {
  const removalsPerHour = { percent: options.removalsPerHourPercent, objects: options.removalsPerHourObjects };
  return {
    writeNamespaces: namespaceNames("--write-namespaces", options.writeNamespaces),
    readNamespaces: namespaceNames("--read-namespaces", options.readNamespaces),
    deleteBudget: { percent: options.deleteBudgetPercent, objects: options.deleteBudgetObjects },
    ...(removalsPerHour.percent === 100 ? {} : { removalsPerHour }),
  };
}
