import { isClusterName, UsageError } from "@isthmus/core";
import { type AgentLimits, type Generation, NAMES } from "@isthmus/plane";
import { type AgentService, problemOfService } from "@isthmus/ports";
import {
  type AdminTlsFlags,
  addAdminTlsOptions,
  adminTlsIn,
  isOn,
  namespaceNames,
  objectCount,
  parsedOptions,
  percentageOption,
  portNumber,
  type TlsFiles,
} from "@isthmus/process";
import { Command, Option } from "commander";
import { version } from "../package.json";

/** How Wasm filters are served. */
export interface WasmConfig {
  /** A file as Secrets of type kubernetes.io/dockerconfigjson hold it. Undefined: registries are asked without credentials. */
  readonly registryCredentials: string | undefined;
  /** Registries that are asked by http, as host or host:port. */
  readonly insecureRegistries: readonly string[];
  readonly privateHosts: readonly string[];
}

/** The settings of an agent; the command line wins over the environment. */
export interface AgentConfig {
  /** The name under which this cluster is registered. */
  readonly clusterName: string;
  /** Standard mode: the management server connects to this cluster itself, and the agent looks after certificates alone. */
  readonly isStandard: boolean;
  /** host:port of the management server; "" in standard mode. */
  readonly serverAddress: string;
  /** The name that the server's certificate must bear. */
  readonly authority: string;
  readonly namespace: string;
  /** Namespace of the management plane: the value of the owner label of what it wants here. */
  readonly managementNamespace: string;
  readonly adminHost: string;
  readonly adminPort: number;
  /** Where proxies send their access logs, and ask for Wasm filters. */
  readonly workloadHost: string;
  readonly workloadPort: number;
  /** Where those who watch that port, and do not speak gRPC, are answered. Undefined: nowhere. */
  readonly workloadHttpPort: number | undefined;
  /** The Service by which proxies reach the agent: what the management server has their configuration name. */
  readonly service: AgentService;
  /** Where other replicas ask this one. */
  readonly replicaHost: string;
  readonly replicaPort: number;
  /** The admin port's certificate and key; undefined: it speaks plain HTTP. */
  readonly adminTls: TlsFiles | undefined;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly token: string | undefined;
  readonly clientCertificates: boolean;
  /** False, for tests alone: any server that answers is taken for the management server. */
  readonly verifiesServer: boolean;
  readonly instance: string;
  /** What the management server may have done here at most. */
  readonly limits: AgentLimits;
  /** Workloads that use earlier certificates of meshes are restarted by rollouts. */
  readonly restartsByRollout: boolean;
  /** Servers of Vault that may be called to sign CAs of meshes, as https://host:port. */
  readonly vaultServers: readonly string[];
  /** Where the token of the agent's account that is made for Vault lies. */
  readonly vaultTokenFile: string;
  /** Undefined: proxies get no Wasm filters. */
  readonly wasm: WasmConfig | undefined;
  /** Whether there are several replicas of this agent, one of which leads. */
  readonly leaderElection: boolean;
  /** Which names the product bears. */
  readonly generation: Generation;
  readonly verbose: boolean;
}

type Defaulted = "service" | "workloadHttpPort" | "wasm" | "adminTls" | "limits" | "instance" | "leaderElection" | "generation" | "verbose";

/** What the command line gives. */
interface Options
  extends Omit<
      AgentConfig,
      "clusterName" | "serverAddress" | "authority" | "isStandard" | "token" | "clientCertificates" | "verifiesServer" | Defaulted
    >,
    AdminTlsFlags {
  readonly cluster: string;
  readonly standard?: boolean;
  readonly relayAddress?: string;
  readonly relayAuthority?: string;
  readonly instance?: string;
  readonly service?: string;
  readonly servicePort: number;
  readonly workloadHttpPort?: number;
  readonly writeNamespaces: readonly string[];
  readonly readNamespaces: readonly string[];
  readonly deleteBudgetPercent: number;
  readonly deleteBudgetObjects: number;
  readonly removalsPerHourPercent: number;
  readonly removalsPerHourObjects: number;
  readonly restartByRollout?: boolean;
  readonly wasmFilters?: boolean;
  readonly registryCredentials?: string;
  readonly insecureRegistries: readonly string[];
  readonly wasmPrivateHosts: readonly string[];
  readonly leaderElection?: boolean;
  readonly legacyNames?: boolean;
  readonly relayToken?: string;
  readonly disableClientCertificates?: boolean;
  readonly verbose?: boolean;
}

/** Reads the command line (without node and script) and the environment. Throws UsageError, or exits after --help. */
export function readAgentConfig(argv: readonly string[]): AgentConfig {
  const command = new Command("gloo-mesh-agent")
    .version(version, "-V, --version", "print the version")
    .description("Reports the state of its cluster to the management server, and applies the desired state from the server.")
    .addOption(new Option("--cluster <name>", "name with which this cluster is registered").env("CLUSTER").makeOptionMandatory())
    .addOption(new Option("--relay-address <host:port>", "address of the management server").env("RELAY_ADDRESS"))
    .addOption(
      new Option(
        "--standard",
        "the management server connects to this cluster itself, by a kubeconfig: carry out its orders for certificates of meshes, and nothing else",
      ),
    )
    .addOption(
      new Option(
        "--relay-authority <name>",
        "name in the server's certificate; default: gloo-mesh-mgmt-server.NAMESPACE, with the value of --management-namespace",
      ).env("RELAY_AUTHORITY"),
    )
    .addOption(new Option("--namespace <name>", "namespace of the agent").env("POD_NAMESPACE").default("gloo-mesh"))
    .addOption(new Option("--management-namespace <name>", "namespace of the management plane in its cluster").default("gloo-mesh"))
    .addOption(new Option("--admin-host <address>", "bind address of metrics and health").default("0.0.0.0"))
    .addOption(
      new Option("--admin-port <number>", "port of metrics and health; 0 selects any free port").default(9091).argParser(portNumber),
    )
    .addOption(new Option("--workload-host <address>", "bind address of the port for proxies").default("0.0.0.0"))
    .addOption(
      new Option(
        "--workload-port <number>",
        "port on which access logs of proxies are received, and Wasm filters served; 0 selects any free port",
      )
        .default(9977)
        .argParser(portNumber),
    )
    .addOption(new Option("--replica-host <address>", "bind address of the port for other replicas of this agent").default("0.0.0.0"))
    .addOption(
      new Option(
        "--replica-port <number>",
        "port on which other replicas of this agent are answered, with --leader-election; the same on all of them",
      )
        .default(9978)
        .argParser(portNumber),
    )
    .addOption(
      new Option(
        "--workload-http-port <number>",
        "HTTP port on which the health of what proxies are served is answered; default: 9988 with --legacy-names, else none",
      ).argParser(portNumber),
    )
    .addOption(
      new Option(
        "--service <name>",
        "Service by which proxies reach this agent, in its namespace; none: it has no Service; default: gloo-mesh-agent, or with --legacy-names enterprise-agent",
      ),
    )
    .addOption(
      new Option("--service-port <number>", "port of that Service for access logs and Wasm filters").default(9977).argParser(portNumber),
    )
    .addOption(
      new Option(
        "--kubeconfig <file>",
        "kubeconfig of this cluster; default: KUBECONFIG, the home directory, or the service account of the pod",
      ),
    )
    .addOption(new Option("--context <name>", "context of the kubeconfig; default: its current one"))
    .addOption(
      new Option("--relay-token <text>", "relay identity token; default: the Secret relay-identity-token-secret").env("RELAY_TOKEN"),
    )
    .addOption(new Option("--disable-client-certificates", "TLS without client certificates: authenticate each call with the token"))
    .addOption(new Option("--instance <name>", "name of this agent in the logs of the server; default: gloo-mesh-agent").env("POD_NAME"))
    .addOption(
      new Option(
        "--write-namespaces <name...>",
        "namespaces that the agent writes to for the server; * is all except kube-system, kube-public and kube-node-lease, which must be named",
      ).default(["*"]),
    )
    .addOption(
      new Option(
        "--read-namespaces <name...>",
        "namespaces whose services, workloads and mesh objects are reported to the server, within what is discovered; * is all",
      ).default(["*"]),
    )
    .addOption(
      new Option("--delete-budget-percent <number>", "upper limit of relay.deleteBudget.percent in the Settings for this cluster")
        .default(20)
        .argParser(percentageOption),
    )
    .addOption(
      new Option("--delete-budget-objects <number>", "upper limit of relay.deleteBudget.objects in the Settings for this cluster")
        .default(50)
        .argParser(objectCount),
    )
    .addOption(
      new Option(
        "--removals-per-hour-percent <number>",
        "percentage of the managed objects that may be deleted within an hour, which the server cannot override; 100 is no limit",
      )
        .default(100)
        .argParser(percentageOption),
    )
    .addOption(
      new Option(
        "--removals-per-hour-objects <number>",
        "number of objects that may be deleted within an hour, used if it allows more than the percentage",
      )
        .default(50)
        .argParser(objectCount),
    )
    .addOption(
      new Option(
        "--restart-by-rollout",
        "restart workloads that use earlier certificates by rollouts, where this is possible, not by evictions",
      ),
    )
    .addOption(
      new Option("--vault-servers <url...>", "Vault servers that the agent may call to have CAs of meshes signed; default: none").default(
        [],
      ),
    )
    .addOption(
      new Option("--vault-token-file <file>", "token of the agent's ServiceAccount with audience vault, with which it logs in").default(
        "/var/run/secrets/vault/token",
      ),
    )
    .addOption(new Option("--wasm-filters", "serve Wasm filters to proxies, and let the server have proxies run them"))
    .addOption(
      new Option(
        "--registry-credentials <file>",
        "users of registries with modules of Wasm filters, in the format of Docker's config.json",
      ),
    )
    .addOption(
      new Option(
        "--insecure-registries <host...>",
        "registries that are asked for modules by http, as host or host:port; default: none",
      ).default([]),
    )
    .addOption(
      new Option(
        "--wasm-private-hosts <host...>",
        "hosts in private networks from which modules are fetched, beside insecure registries; default: none",
      ).default([]),
    )
    .addOption(new Option("--leader-election", "elect a leader among several replicas with the Lease gloo-mesh-agent"))
    .addOption(new Option("--legacy-names", "use the legacy names enterprise-agent and enterprise-networking"))
    .addOption(new Option("--verbose", "log in detail"));
  const options = parsedOptions<Options>(addAdminTlsOptions(command), argv);
  const clusterName = options.cluster;
  if (!isClusterName(clusterName)) {
    throw new UsageError(`--cluster ${clusterName}: is not a valid cluster name: use at most 63 lower-case letters, digits and hyphens`);
  }
  checkMode(options);
  const generation = options.legacyNames === true || isOn(process.env["LEGACY_NAMES"]) ? "enterprise" : "gloo-mesh";
  return {
    clusterName,
    isStandard: options.standard === true,
    serverAddress: options.relayAddress ?? "",
    authority: options.relayAuthority ?? `${NAMES[generation].server}.${options.managementNamespace}`,
    namespace: options.namespace,
    managementNamespace: options.managementNamespace,
    adminHost: options.adminHost,
    adminPort: options.adminPort,
    adminTls: adminTlsIn(options),
    workloadHost: options.workloadHost,
    workloadPort: options.workloadPort,
    service: serviceIn(options, generation),
    workloadHttpPort: options.workloadHttpPort ?? HTTP_PORTS[generation],
    replicaHost: options.replicaHost,
    replicaPort: options.replicaPort,
    kubeconfig: options.kubeconfig,
    context: options.context,
    token: options.relayToken,
    clientCertificates: !(
      options.disableClientCertificates === true || isOn(process.env["RELAY_DISABLE_CLIENT_CERTIFICATE_AUTHENTICATION"])
    ),
    verifiesServer: !isOn(process.env["RELAY_DISABLE_SERVER_CERTIFICATE_VALIDATION"]),
    limits: limitsIn(options),
    restartsByRollout: options.restartByRollout === true,
    vaultServers: options.vaultServers.map(serverUrl),
    vaultTokenFile: options.vaultTokenFile,
    instance: options.instance ?? NAMES[generation].agent,
    wasm: wasmIn(options),
    leaderElection: options.leaderElection === true || isOn(process.env["LEADER_ELECTION"]),
    generation,
    verbose: options.verbose === true,
  };
}

function checkMode({ standard = false, relayAddress, namespace, managementNamespace, wasmFilters = false }: Options): void {
  if (!standard && relayAddress === undefined) {
    throw new UsageError(
      "--relay-address is required: set it to host:port of the management server, or set --standard if that connects to this cluster",
    );
  }
  if (!standard) return;
  if (relayAddress !== undefined) throw new UsageError("--relay-address and --standard are mutually exclusive: remove one of them");
  if (wasmFilters) throw new UsageError("--wasm-filters has no effect with --standard: remove it");
  if (namespace !== managementNamespace) {
    throw new UsageError(
      `--standard: the management server stores its orders in namespace ${managementNamespace} of this cluster: run the agent there, not in ${namespace}`,
    );
  }
}

function serviceIn({ service, servicePort }: Options, generation: Generation): AgentService {
  const httpPort = HTTP_PORTS[generation];
  const name = service === NO_SERVICE ? "" : (service ?? NAMES[generation].agent);
  const told = { name, grpcPort: servicePort, ...(httpPort === undefined ? {} : { httpPort }) };
  const problem = problemOfService(told);
  if (problem === undefined) return told;
  throw new UsageError(`--service ${told.name}, --service-port ${servicePort}: ${problem}`);
}

const NO_SERVICE = "none";

/** Of the Service, by the names that the product bears: the seeds know this port of the first generation alone. */
const HTTP_PORTS: Readonly<Record<Generation, number | undefined>> = { "gloo-mesh": undefined, enterprise: 9988 };

function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search + url.hash + url.username === "")
    return url.origin;
  throw new UsageError(`--vault-servers ${text}: is not the URL of a server: set it like https://vault.example.com:8200`);
}

function wasmIn({
  wasmFilters = false,
  registryCredentials,
  insecureRegistries,
  wasmPrivateHosts: privateHosts,
}: Options): WasmConfig | undefined {
  if (!wasmFilters) {
    if (registryCredentials === undefined && insecureRegistries.length + privateHosts.length === 0) return undefined;
    throw new UsageError(
      "--registry-credentials, --insecure-registries and --wasm-private-hosts have no effect without --wasm-filters: set it, or remove them",
    );
  }
  return { registryCredentials, insecureRegistries, privateHosts };
}

function limitsIn(options: Options): AgentLimits {
  const removalsPerHour = { percent: options.removalsPerHourPercent, objects: options.removalsPerHourObjects };
  return {
    writeNamespaces: namespaceNames("--write-namespaces", options.writeNamespaces),
    readNamespaces: namespaceNames("--read-namespaces", options.readNamespaces),
    deleteBudget: { percent: options.deleteBudgetPercent, objects: options.deleteBudgetObjects },
    wasmFilters: options.wasmFilters === true,
    ...(removalsPerHour.percent === 100 ? {} : { removalsPerHour }),
  };
}
