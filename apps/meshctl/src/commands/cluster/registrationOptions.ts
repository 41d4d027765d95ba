import { UsageError } from "@isthmus/core";
import type { ApiServer } from "@isthmus/kubernetes";
import { type Command, Option } from "commander";
import type { GivenAddress } from "../../cluster/apiServerAddress.ts";
import type { Connect } from "../../cluster/managementCluster.ts";
import type { GivenPlaces } from "../../cluster/register/hints.ts";
import type { RegistrationTargets } from "../../plane/precheck/registrationPrecheck.ts";
import { type RefusedFlag, withRefusedFlags } from "../commandLine/publishedFlags.ts";
import { withClusterContext, withUserDefaults } from "../userDefaults.ts";

/** Gives access to the cluster that is registered, and says how it is reached. */
export type ConnectRemote = (place: { readonly kubeconfig?: string; readonly context?: string }) => Promise<RemoteAccess>;

export interface RemoteAccess {
  readonly cluster: Awaited<ReturnType<Connect>>;
  readonly address: GivenAddress;
  /** What its API server answers beside objects; undefined: nothing is asked. */
  readonly api?: ApiServer;
  /** The last lines of the log of a pod; undefined: logs cannot be read. */
  readonly log?: (pod: { readonly name: string; readonly namespace: string }) => Promise<string>;
}

/** Options that name the clusters, of both commands. */
export interface PlaceOptions {
  readonly clusterName?: string;
  readonly kubeconfig?: string;
  readonly remoteContext?: string;
  readonly mgmtKubeconfig?: string;
  readonly mgmtContext?: string;
  readonly mgmtNamespace: string;
  readonly remoteNamespace: string;
}

/**
 * Adds the arguments and options that name the two clusters, the same for `cluster register` and `cluster deregister`, to `command` itself.
 */
export function withPlaces(command: Command): Command {
  withUserDefaults(command, { kubeconfigs: ["kubeconfig", "mgmtKubeconfig"], context: "mgmtContext", namespace: "mgmtNamespace" });
  withClusterContext(command, "remoteContext", (action) => {
    const [first, second] = action.args;
    return nameAndMode([first, second], action.opts<PlaceOptions>()).clusterName;
  });
  return command
    .argument("[name]", "name of the cluster; same as --cluster-name")
    .argument("[cluster]", "name of the cluster, after the words community (--standard) or enterprise of earlier versions")
    .option("--cluster-name <name>", "name of the cluster")
    .option("--kubeconfig <file>", "kubeconfig of the cluster; default: KUBECONFIG, or the home directory")
    .option("--remote-context <name>", "context of the cluster; default: that of its name in meshctl config view, else the current one")
    .option("--remote-namespace <name>", "namespace in the cluster", "gloo-mesh")
    .option("--mgmt-kubeconfig <file>", "kubeconfig of the management cluster; default: as --kubeconfig")
    .option("--mgmt-context <name>", "context of the management cluster; default: the current one")
    .option("--mgmt-namespace <name>", "namespace of the management plane", "gloo-mesh")
    .allowExcessArguments(false);
}

/** Which cluster is meant. The published commands are `register community NAME` and `register enterprise NAME`. */
export function nameAndMode(
  [first, second]: readonly [string | undefined, string | undefined],
  { clusterName, standard }: Pick<PlaceOptions, "clusterName"> & { readonly standard?: true },
): { readonly clusterName: string; readonly isStandard: boolean } {
  const mode = second === undefined && clusterName === undefined ? undefined : MODES.get(first ?? "");
  if (second !== undefined && mode === undefined) {
    throw new UsageError(`one cluster name is needed, but ${first} and ${second} were given`);
  }
  if (mode === "relay" && standard === true) throw new UsageError(`${first} and --standard are mutually exclusive`);
  const name = mode === undefined ? (first ?? clusterName) : (second ?? clusterName);
  if (name === undefined || name === "") throw new UsageError("no cluster name: pass it as an argument, or with --cluster-name");
  return { clusterName: name, isStandard: standard === true || mode === "standard" };
}

const MODES: ReadonlyMap<string, "standard" | "relay"> = new Map([
  ["community", "standard"],
  ["enterprise", "relay"],
]);

/** Flags of the published commands that have one meaning here: as they are in each installation. */
const FIXED: readonly (readonly [flag: string, value: string, remedy: string])[] = [
  ["--root-ca-secret-name", "relay-root-tls-secret", "copy it under that name"],
  ["--client-cert-secret-name", "relay-client-tls-secret", "copy it under that name"],
  ["--token-secret-name", "relay-identity-token-secret", "copy it under that name"],
  ["--token-secret-key", "token", "name the key so"],
];
/** Flags of the published commands that have none. */
const UNSUPPORTED: readonly RefusedFlag[] = [
  ["--relay-server-insecure", "the relay always uses TLS: leave it out"],
  ["--enterprise-agent-chart-file <file>", "the agent is part of meshctl: leave it out, or install the chart with Helm instead"],
  ["--agent-crds-chart-file <file>", "no chart is installed without an agent: leave it out"],
  ["--cert-agent-chart-file <file>", "no chart is installed without an agent: leave it out"],
  ["--cert-agent-chart-values <file>", "no chart is installed without an agent: leave it out"],
];
const NAMESPACES = ["--root-ca-secret-namespace", "--client-cert-secret-namespace", "--token-secret-namespace"];

/** Accepts the flags of the published commands; those that ask for something else than what is done are refused, with what to do. */
export function withPublishedFlags(command: Command): Command {
  const options = [...FIXED.map(([flag]) => flag), ...NAMESPACES].map((flag) => `${flag} <name>`);
  for (const flags of options) command.addOption(new Option(flags).hideHelp());
  return withRefusedFlags(command, UNSUPPORTED).hook("preAction", (_, action) => checkPublishedFlags(action));
}

function checkPublishedFlags(command: Command): void {
  const given = (flags: string): unknown => command.getOptionValue(new Option(flags).attributeName());
  for (const [flag, value, remedy] of FIXED) {
    const named = given(`${flag} <name>`);
    if (named !== undefined && named !== value) throw new UsageError(`${flag} ${String(named)}: must be ${value}; ${remedy}`);
  }
  const namespace = command.getOptionValue("remoteNamespace");
  for (const flag of NAMESPACES) {
    const named = given(`${flag} <name>`);
    if (named !== undefined && named !== namespace) {
      throw new UsageError(
        `${flag} ${String(named)}: the agent reads its Secrets in its own namespace, ${String(namespace)}: copy the Secret there`,
      );
    }
  }
}

/** Where the cluster that is registered is found; what the user did not pass is absent, so that the defaults of kubectl apply. */
export function remotePlace({ kubeconfig, remoteContext }: PlaceOptions): Parameters<ConnectRemote>[0] {
  return { ...(kubeconfig === undefined ? {} : { kubeconfig }), ...(remoteContext === undefined ? {} : { context: remoteContext }) };
}

/** Where the management plane is found: by `--mgmt-kubeconfig`, else by `--kubeconfig`. What the user did not pass is absent. */
export function managementPlace({
  kubeconfig,
  mgmtKubeconfig = kubeconfig,
  mgmtContext,
  mgmtNamespace,
}: PlaceOptions): Parameters<Connect>[0] {
  return {
    namespace: mgmtNamespace,
    ...(mgmtKubeconfig === undefined ? {} : { kubeconfig: mgmtKubeconfig }),
    ...(mgmtContext === undefined ? {} : { context: mgmtContext }),
  };
}

/** Which clusters the user has named. */
export function givenPlaces({
  kubeconfig,
  remoteContext,
  remoteNamespace,
  mgmtKubeconfig,
  mgmtContext,
  mgmtNamespace,
}: PlaceOptions): GivenPlaces {
  return { kubeconfig, remoteContext, remoteNamespace, mgmtKubeconfig, mgmtContext, mgmtNamespace };
}

/** Whom to ask, before anything is created, whether a registration can succeed. */
export function precheckTargets(
  {
    clusterName,
    api,
    managementApi,
  }: { readonly clusterName: string; readonly api: ApiServer | undefined; readonly managementApi: ApiServer | undefined },
  { remoteNamespace, mgmtNamespace }: PlaceOptions,
): RegistrationTargets {
  return {
    remote: { api, called: `cluster ${clusterName}`, namespace: remoteNamespace },
    management: { api: managementApi, called: "management cluster", namespace: mgmtNamespace },
  };
}
