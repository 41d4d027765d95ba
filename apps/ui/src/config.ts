import { isLoopback } from "@isthmus/console";
import { type LabelSelector, UsageError } from "@isthmus/core";
import { parsedOptions, portNumber, type TlsFiles } from "@isthmus/process";
import { addStoreOptions, type StoreConfig, type StoreFlags, storeConfig } from "@isthmus/store/options";
import { Command, Option } from "commander";
import { version } from "../package.json";
import { labelIn } from "./labelledNamespaces.ts";

/** The settings of a console; the command line wins over the environment. */
export interface UiConfig {
  readonly namespace: string;
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly store: StoreConfig;
  /** Who may read; undefined: everybody on this machine, and nobody else. */
  readonly login: LoginConfig | undefined;
  readonly tls: TlsFiles | undefined;
  /** Directory with the files `key` and `previous` of the store's Secret; undefined for a store of files, which is not signed. */
  readonly storeKey: string | undefined;
  /** As the management servers have it. */
  readonly disallowIntersectingConfig: boolean;
  readonly version: string;
  readonly verbose: boolean;
}

/** How users log in: by tokens that the Kubernetes API of the management cluster confirms. */
export interface LoginConfig {
  /** Where browsers see the console. */
  readonly publicUrl: URL;
  /** Whether the connection to this very process is encrypted. */
  readonly isEncrypted: boolean;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Rights in namespaces with this label alone count for other clusters; undefined: in all. */
  readonly namespaceLabel: LabelSelector | undefined;
}

interface Options extends Pick<UiConfig, "namespace" | "host" | "port" | "adminHost" | "adminPort">, StoreFlags {
  readonly storeKey?: string;
  readonly disallowIntersectingConfig?: boolean;
  readonly login: "none" | "kubernetes";
  readonly publicUrl?: string;
  readonly namespaceLabel?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly verbose?: boolean;
}

/** Reads the command line (without node and script) and the environment. Throws UsageError, or exits after --help. */
export function readUiConfig(argv: readonly string[]): UiConfig {
  const command = new Command("gloo-mesh-ui")
    .version(version, "-V, --version", "print the version")
    .description("Serves the console: what management servers keep in Redis, whether or not one of them runs. Nothing is written.")
    .addOption(new Option("--namespace <name>", "namespace of the management plane").env("POD_NAMESPACE").default("gloo-mesh"))
    .addOption(
      new Option("--host <address>", "address that browsers connect to; without a login, only loopback is accepted").default("127.0.0.1"),
    )
    .addOption(new Option("--port <number>", "port that browsers connect to; 0 selects any free port").default(8090).argParser(portNumber))
    .addOption(
      new Option(
        "--login <kind>",
        "who may read: `none`, everybody on this machine; `kubernetes`, who logs in with a token of the management cluster's Kubernetes API, and sees what it lets that user list",
      )
        .choices(["none", "kubernetes"])
        .default("none")
        .env("CONSOLE_LOGIN"),
    )
    .addOption(
      new Option("--public-url <url>", "with a login: where browsers see the console, such as https://console.example.com").env(
        "CONSOLE_URL",
      ),
    )
    .addOption(
      new Option(
        "--namespace-label <label>",
        "with a login: rights in a namespace of the management cluster count for that namespace of other clusters only if it has this label, as KEY or KEY=VALUE; default: always",
      ).env("CONSOLE_NAMESPACE_LABEL"),
    )
    .option("--tls-cert <file>", "PEM certificate of the console's port, which then uses TLS; without it, a proxy before the console must")
    .option("--tls-key <file>", "PEM private key of that certificate")
    .option(
      "--kubeconfig <file>",
      "with a login: kubeconfig of the management cluster; default: KUBECONFIG, the home directory, or the service account of the pod",
    )
    .option("--context <name>", "context of the kubeconfig; default: its current one")
    .addOption(new Option("--admin-host <address>", "bind address of metrics and health").default("0.0.0.0"))
    .addOption(
      new Option("--admin-port <number>", "port of metrics and health; 0 selects any free port").default(9091).argParser(portNumber),
    )
    .addOption(
      new Option(
        "--store-key <directory>",
        "directory with the files `key` and `previous` of Secret relay-store-key-secret, with which the content of Redis is verified",
      ).env("STORE_KEY_PATH"),
    )
    .addOption(
      new Option("--disallow-intersecting-config", "set where the management servers have it: it decides which policies are in force"),
    )
    .addOption(new Option("--verbose", "log in detail"));
  const options = parsedOptions<Options>(addStoreOptions(command), argv);
  const tls = tlsIn(options);
  const login = loginIn(options, tls !== undefined);
  const store = storeConfig(options, process.env);
  if (store.redis === undefined && store.path === undefined)
    throw new UsageError("there is nothing to show: set --redis-address, or --store-path");
  if (store.redis !== undefined && options.storeKey === undefined)
    throw new UsageError("--store-key is missing: what is in Redis counts only with a valid signature");
  const { namespace, host, port, adminHost, adminPort, storeKey } = options;
  const disallowIntersectingConfig = options.disallowIntersectingConfig === true;
  return {
    namespace,
    host,
    port,
    adminHost,
    adminPort,
    login,
    tls,
    store,
    storeKey,
    disallowIntersectingConfig,
    version,
    verbose: options.verbose === true,
  };
}

function tlsIn({ tlsCert: certificate, tlsKey: key }: Options): TlsFiles | undefined {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) throw new UsageError("--tls-cert and --tls-key must be set together");
  return { certificate, key, option: "--tls" };
}

function loginIn({ login, host, publicUrl, kubeconfig, context, namespaceLabel }: Options, isEncrypted: boolean): LoginConfig | undefined {
  if (login === "none") {
    if (isLoopback(host)) return undefined;
    throw new UsageError(
      `--host ${host} can be reached from other machines, and there is no login: use 127.0.0.1 and a port-forward, or --login kubernetes`,
    );
  }
  if (publicUrl === undefined)
    throw new UsageError("--public-url is missing: where browsers see the console, such as https://console.example.com");
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : undefined;
  if (url === undefined || !["https:", "http:"].includes(url.protocol) || url.href !== `${url.origin}/`)
    throw new UsageError(`--public-url ${publicUrl} is not the URL of a host, such as https://console.example.com`);
  // Somebody who reads the cookie on the way could act as the user.
  if (url.protocol === "http:" && !isLoopback(url.hostname.replace(/^\[|\]$/g, "")))
    throw new UsageError(
      `--public-url ${publicUrl} is not encrypted: use https, by --tls-cert and --tls-key or a proxy before the console`,
    );
  const label = namespaceLabel === undefined || namespaceLabel === "" ? undefined : labelIn(namespaceLabel);
  return { publicUrl: url, isEncrypted, kubeconfig, context, namespaceLabel: label };
}
