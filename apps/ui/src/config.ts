import { isLoopback } from "@isthmus/console";
import { UsageError } from "@isthmus/core";
import { parsedOptions, portNumber } from "@isthmus/process";
import { addStoreOptions, type StoreConfig, type StoreFlags, storeConfig } from "@isthmus/store/options";
import { Command, Option } from "commander";
import { version } from "../package.json";

/** The settings of a console; the command line wins over the environment. */
export interface UiConfig {
  readonly namespace: string;
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly store: StoreConfig;
  /** Directory with the files `key` and `previous` of the store's Secret; undefined for a store of files, which is not signed. */
  readonly storeKey: string | undefined;
  /** As the management servers have it. */
  readonly disallowIntersectingConfig: boolean;
  readonly version: string;
  readonly verbose: boolean;
}

interface Options extends Pick<UiConfig, "namespace" | "host" | "port" | "adminHost" | "adminPort">, StoreFlags {
  readonly storeKey?: string;
  readonly disallowIntersectingConfig?: boolean;
  readonly verbose?: boolean;
}

/** Reads the command line (without node and script) and the environment. Throws UsageError, or exits after --help. */
export function readUiConfig(argv: readonly string[]): UiConfig {
  const command = new Command("gloo-mesh-ui")
    .version(version, "-V, --version", "print the version")
    .description("Serves the console: what management servers keep in Redis, whether or not one of them runs. Nothing is written.")
    .addOption(new Option("--namespace <name>", "namespace of the management plane").env("POD_NAMESPACE").default("gloo-mesh"))
    .addOption(
      new Option("--host <address>", "address that browsers connect to; there is no login, so that only loopback is accepted").default(
        "127.0.0.1",
      ),
    )
    .addOption(new Option("--port <number>", "port that browsers connect to; 0 selects any free port").default(8090).argParser(portNumber))
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
  if (!isLoopback(options.host))
    throw new UsageError(
      `--host ${options.host} can be reached from other machines, and there is no login: use 127.0.0.1, and a port-forward`,
    );
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
    store,
    storeKey,
    disallowIntersectingConfig,
    version,
    verbose: options.verbose === true,
  };
}
