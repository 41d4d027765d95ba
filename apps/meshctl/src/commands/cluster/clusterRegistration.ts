import { UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { Command, Option } from "commander";
import { inManagementCluster } from "../../cluster/managementCluster.ts";
import { withChartValues } from "../chartValues.ts";
import { WRITE_EXIT_CODES } from "../commandLine/helpText.ts";
import { confirmed, doneOrTried, dryRunOption, triedChanges, type Within } from "../dryRun.ts";
import { durationOption } from "../duration.ts";
import {
  type ConnectRemote,
  givenPlaces,
  managementPlace,
  nameAndMode,
  type PlaceOptions,
  precheckTargets,
  remotePlace,
  withPlaces,
  withPublishedFlags,
} from "./registrationOptions.ts";
import { deregisterWithAgent, type RegisterAgentOptions, registerWithAgent, type WithAgent } from "./registrationWithAgent.ts";

export type { ConnectRemote } from "./registrationOptions.ts";

interface RegisterOptions extends PlaceOptions, RegisterAgentOptions {
  readonly standard?: true;
  readonly apiServerAddress?: string;
}

interface DeregisterOptions extends PlaceOptions {
  readonly force?: true;
  readonly purge?: true;
  readonly dryRun?: true;
  readonly yes?: true;
}

/** How a deregistration is done, or tried. */
interface Deregistering {
  readonly within: Within;
  readonly isDryRun: boolean;
  readonly say: (line: string) => void;
}

/** The cluster of a kubeconfig, as its current user. */
export const connectRemote: ConnectRemote = async ({ kubeconfig: path, context }) => {
  const { apiServerOf, kubernetesCluster, loadKubeconfig, podLogs } = await import("@isthmus/kubernetes");
  const { systemClock } = await import("@isthmus/plane/clock");
  const kubeconfig = loadKubeconfig({ ...(path === undefined ? {} : { path }), ...(context === undefined ? {} : { context }) });
  const { tls } = await kubeconfig.credentials(false);
  const ca = tls.ca === undefined ? undefined : String(tls.ca);
  const cluster = kubernetesCluster({ name: "", kubeconfig, clock: systemClock, random: Math.random, silenceMs: SILENCE_MS });
  const { servername: tlsServerName } = tls;
  const logs = podLogs({ kubeconfig, clock: systemClock });
  const api = apiServerOf({ kubeconfig, clock: systemClock, silenceMs: SILENCE_MS });
  const given = { server: kubeconfig.server, ca, isUnverified: tls.rejectUnauthorized === false };
  return { cluster, api, address: { ...given, ...(tlsServerName === undefined ? {} : { tlsServerName }) }, log: (pod) => logs.last(pod) };
};

// Somebody waits for the answer.
const SILENCE_MS = 10_000;

/** `meshctl cluster register` and `deregister`: with an agent in the cluster, or (`--standard`) without. */
export function registrationCommands(withAgent: WithAgent): readonly Command[] {
  const { io, connect, toRemote, connectApiServer, catchInterrupts } = withAgent;
  return [
    withChartValues(withPublishedFlags(withPlaces(new Command("register"))), "gloo-mesh-agent", "--enterprise-agent-chart-values <file>")
      .description("Register a cluster: installs an agent in it, and waits until the management plane knows the cluster.")
      .option("--standard", "without an agent: the management server connects to the cluster itself")
      .option("--cluster-domain <domain>", "DNS domain of services in the cluster; default: cluster.local")
      .addOption(
        new Option("--mode <mode>", "what is written in the cluster: everything, or nothing until it is resumed; default: manage").choices([
          "manage",
          "observe",
          "freeze",
        ]),
      )
      .option("--relay-server-address <host:port>", "where the agent reaches the server; default: as the Service of the server says")
      .option("--relay-authority <name>", "name in the server's certificate; default: that of its Service, SERVICE.NAMESPACE")
      .option(
        "--disable-client-certificates",
        "the agent has no certificate: each call carries the shared token, as the server must be set up",
      )
      .option("--no-probe", "do not try the address from here: only the cluster can reach it")
      .addOption(durationOption("--token-ttl <duration>", "lifetime of the join token, at most 24h", "15m"))
      .addOption(durationOption("--timeout <duration>", "how long to wait for the agent", "2m"))
      .option("--rollback", "if the registration fails, delete all that it created")
      .addOption(dryRunOption())
      .option("--print-join", "print what to paste into a shell on the other side, instead of connecting to that cluster")
      .option("--print-gitops", "print what to commit, without secrets; creates nothing")
      .option("--api-server-address <host[:port]>", "--standard: API server address for the server, if it differs from your kubeconfig")
      .addHelpText("after", HELP)
      .action((name: string | undefined, second: string | undefined, options: RegisterOptions, command: Command) => {
        const { clusterName, isStandard } = nameAndMode([name, second], options);
        if (isStandard && options.mode !== undefined) throw new UsageError(STANDARD_MODE);
        checkTogether(command, isStandard);
        return isStandard ? registerStandard(clusterName, options) : registerWithAgent(withAgent, clusterName, options);
      }),
    withPublishedFlags(withPlaces(new Command("deregister")))
      .description("Undo register. Mesh configuration in that cluster is kept; resources generated from it in other clusters are deleted.")
      .option("--force", "do not connect to the cluster: it no longer exists")
      .option("--purge", "also delete the mesh configuration that was applied to the cluster")
      .addOption(dryRunOption())
      .option("-y, --yes", "do not ask, on a terminal, before anything is deleted")
      // Of the published commands: what is undone is known without them.
      .addOption(new Option("--api-server-address <host[:port]>").hideHelp())
      .addOption(new Option("--cluster-domain <domain>").hideHelp())
      .addHelpText("after", DEREGISTER_HELP)
      .action(async (name: string | undefined, second: string | undefined, options: DeregisterOptions) => {
        const { clusterName } = nameAndMode([name, second], options);
        const { force, purge, dryRun, yes } = options;
        if (force === true && purge === true)
          throw new UsageError("--force and --purge are mutually exclusive: nothing is deleted in a cluster that is not connected to");
        const deregister = async (how: Deregistering): Promise<void> => {
          if (!(await deregisterWithAgent(withAgent, clusterName, { ...options, ...how })))
            await deregisterStandard(clusterName, options, how);
        };
        const trying = (within: Within): Promise<void> => deregister({ within, isDryRun: true, say: () => undefined });
        if (dryRun !== true && yes !== true && io.ask !== undefined) await confirmed(io.ask, io, await triedChanges(trying));
        const doing = (within: Within): Promise<void> => deregister({ within, isDryRun: false, say: (line) => io.note(`${line}\n`) });
        await doneOrTried(io, dryRun, dryRun === true ? trying : doing);
      }),
  ];

  async function registerStandard(clusterName: string, options: RegisterOptions): Promise<void> {
    const { addressFor } = await import("../../cluster/apiServerAddress.ts");
    const { registerCluster } = await import("../../cluster/registration.ts");
    const { systemClock } = await import("@isthmus/plane/clock");
    const { hintsFor } = await import("../../cluster/register/hints.ts");
    const { namedCluster } = await import("../../cluster/namedCluster.ts");
    const { standardRegistrationProblems } = await import("../../plane/precheck/registrationPrecheck.ts");
    const { cluster: remote, address, api } = await toRemote(remotePlace(options));
    const where = addressFor(address, options.apiServerAddress);
    const targets = precheckTargets({ clusterName, api, managementApi: await connectApiServer?.(managementPlace(options)) }, options);
    const { dryRun } = options;
    const register = (within: Within, management: Cluster): Promise<void> =>
      registerCluster({
        management: namedCluster(within(management), "management cluster"),
        remote: namedCluster(within(remote), `cluster ${clusterName}`),
        isDryRun: dryRun === true,
        clusterName,
        managementNamespace: options.mgmtNamespace,
        remoteNamespace: options.remoteNamespace,
        clusterDomain: options.clusterDomain,
        address: where,
        precheck: () => standardRegistrationProblems(targets),
        rollback: options.rollback === true,
        interrupt: catchInterrupts(),
        hints: hintsFor(givenPlaces(options)),
        clock: systemClock,
        say: (line) => {
          if (dryRun !== true) io.note(`${line}\n`);
        },
      });
    await doneOrTried(io, dryRun, (within) =>
      inManagementCluster(managementPlace(options), connect, (management) => register(within, management)),
    );
    if (where.tlsServerName !== undefined) {
      io.note(`The server connects to ${where.server} and expects a certificate for ${where.tlsServerName}.\n`);
    }
  }

  async function deregisterStandard(clusterName: string, options: DeregisterOptions, { within, say }: Deregistering): Promise<void> {
    const { deregisterCluster } = await import("../../cluster/standardDeregistration.ts");
    const { namedCluster } = await import("../../cluster/namedCluster.ts");
    const { systemClock } = await import("@isthmus/plane/clock");
    const remote =
      options.force === true ? undefined : namedCluster(within((await toRemote(remotePlace(options))).cluster), `cluster ${clusterName}`);
    await inManagementCluster(managementPlace(options), connect, (management) =>
      deregisterCluster({
        management: within(management),
        remote,
        purges: options.purge === true,
        clock: systemClock,
        clusterName,
        managementNamespace: options.mgmtNamespace,
        remoteNamespace: options.remoteNamespace,
        say,
      }),
    );
  }
}

/** Options that say something of an agent, of which there is none in standard mode. */
const OF_AGENTS = [
  "relayServerAddress",
  "relayAuthority",
  "disableClientCertificates",
  "probe",
  "tokenTtl",
  "timeout",
  "printJoin",
  "printGitops",
  "values",
  "set",
  "resetValues",
];

/** Throws UsageError for options of which one would be passed over. */
function checkTogether(command: Command, isStandard: boolean): void {
  const given = (name: string): boolean => command.getOptionValueSource(name) === "cli";
  const flag = (name: string): string => command.options.find((option) => option.attributeName() === name)?.long ?? name;
  const [ofAgent] = OF_AGENTS.filter(given);
  if (isStandard && ofAgent !== undefined)
    throw new UsageError(`${flag(ofAgent)} and --standard are mutually exclusive: it is about an agent`);
  if (!isStandard && given("apiServerAddress"))
    throw new UsageError("--api-server-address needs --standard: an agent reaches the API server of its own cluster");
  if (given("disableClientCertificates") && given("tokenTtl"))
    throw new UsageError("--token-ttl and --disable-client-certificates are mutually exclusive: the shared token has no lifetime");
  const [printed] = ["printJoin", "printGitops"].filter(given);
  const [unused] = ["rollback", "timeout", "probe", "dryRun", "resetValues"].filter(given);
  if (given("dryRun") && given("rollback")) throw new UsageError("--rollback and --dry-run are mutually exclusive: nothing is created");
  if (printed !== undefined && unused !== undefined)
    throw new UsageError(`${flag(unused)} and ${flag(printed)} are mutually exclusive: nothing is installed, and nothing waited for`);
}

const STANDARD_MODE =
  "--mode and --standard are mutually exclusive: create the KubernetesCluster with spec.mode before, or pause the cluster afterwards";

const HELP = `
Exit codes: 0 registered, 2 usage error, no answer, or a gate did not open, 124 a gate did not open within --timeout, 130
interrupted (Ctrl-C), at once; with --rollback after deleting what was created, and --standard always does, which a second Ctrl-C ends.

Can be repeated: existing objects are kept, and objects not created by meshctl are never overwritten. "cluster register enterprise NAME" is
the same, "cluster register community NAME" the same as --standard.

Examples:
  meshctl cluster register east --remote-context east --mgmt-context mgmt

  # What would be created, after the same checks
  meshctl cluster register east --remote-context east --mgmt-context mgmt --dry-run

  # Only the cluster itself reaches the management server, at this address
  meshctl cluster register east --remote-context east --relay-server-address relay.example.com:9900 --no-probe

  # What the agent may write, and images of a registry of your own: rendered by the Helm of this machine
  meshctl cluster register east --remote-context east --mgmt-context mgmt --set limits.writeNamespaces={shop} --set image.registry=registry.example.com/mesh

  # Compare only, beside a mesh that is in use, until "meshctl cluster resume east"
  meshctl cluster register east --remote-context east --mgmt-context mgmt --mode observe

  # Without access to that cluster: paste the output into a shell that has it
  meshctl cluster register east --mgmt-context mgmt --print-join

  # Without an agent; the server reaches the cluster on this machine at a different address
  meshctl cluster register east --standard --remote-context kind-east --api-server-address host.docker.internal`;

const DEREGISTER_HELP = `
Deletes the KubernetesCluster, the agent, its permissions and its Secrets. CRDs, the namespace, and what meshctl did not create are kept.
--purge waits until the pods of the agent have ended: until then they would write again what is deleted.
On a terminal what would be deleted is listed first, and you are asked; elsewhere nobody is, as with the published command.
${WRITE_EXIT_CODES}

Examples:
  meshctl cluster deregister east --remote-context east --mgmt-context mgmt --dry-run
  meshctl cluster deregister east --remote-context east --mgmt-context mgmt

  # The cluster no longer exists
  meshctl cluster deregister east --mgmt-context mgmt --force`;
