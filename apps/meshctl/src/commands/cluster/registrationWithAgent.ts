import { UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import type { ConnectApiServer } from "../../cluster/apiServer.ts";
import type { RunHelm } from "../../cluster/charts/runHelm.ts";
import type { CatchInterrupts } from "../../cluster/interruption.ts";
import { type Connect, inManagementCluster } from "../../cluster/managementCluster.ts";
import type { PrintedRegistration } from "../../cluster/register/printed.ts";
import type { RelayAddress } from "../../cluster/register/relayAddress.ts";
import type { Io } from "../../io.ts";
import { plainText } from "../../output/plainText.ts";
import { type ChartValuesOptions, givenChartValues } from "../chartValues.ts";
import { terminalColumns } from "../commandLine/terminal.ts";
import { doneOrTried, type Within } from "../dryRun.ts";
import {
  type ConnectRemote,
  givenPlaces,
  managementPlace,
  type PlaceOptions,
  precheckTargets,
  remotePlace,
} from "./registrationOptions.ts";

export interface RegisterAgentOptions extends ChartValuesOptions {
  readonly clusterDomain?: string;
  readonly mode?: string;
  readonly relayServerAddress?: string;
  readonly relayAuthority?: string;
  readonly probe: boolean;
  readonly tokenTtl: number;
  readonly disableClientCertificates?: true;
  readonly timeout: number;
  readonly rollback?: true;
  readonly dryRun?: true;
  readonly printJoin?: true;
  readonly printGitops?: true;
}

export interface WithAgent {
  readonly io: Io;
  readonly connect: Connect;
  readonly toRemote: ConnectRemote;
  /** Undefined: the rights of the user in the management cluster are not asked for. */
  readonly connectApiServer: ConnectApiServer | undefined;
  readonly catchInterrupts: CatchInterrupts;
  readonly runHelm: RunHelm | undefined;
}

/** `meshctl cluster register` with an agent. */
export async function registerWithAgent(
  parts: WithAgent,
  clusterName: string,
  options: PlaceOptions & RegisterAgentOptions,
): Promise<void> {
  const { io, connect, toRemote, connectApiServer, catchInterrupts } = parts;
  const relay = await givenRelay(options);
  const given = await givenChartValues(options, parts.runHelm);
  if (options.printJoin === true || options.printGitops === true)
    return printRegistration(parts, clusterName, { ...options, relay, values: given.values });
  const { registerAgent } = await import("../../cluster/register/registerAgent.ts");
  const { gateText } = await import("../../cluster/register/gateText.ts");
  const { hintsFor } = await import("../../cluster/register/hints.ts");
  const { probeRelay } = await import("../../cluster/register/probe.ts");
  const { agentComplaint } = await import("../../cluster/register/agentComplaint.ts");
  const { systemClock } = await import("@isthmus/plane/clock");
  const columns = terminalColumns();
  const { namedCluster } = await import("../../cluster/namedCluster.ts");
  const { registrationProblems } = await import("../../plane/precheck/registrationPrecheck.ts");
  const { cluster, log, api } = await toRemote(remotePlace(options));
  const targets = precheckTargets({ clusterName, api, managementApi: await connectApiServer?.(managementPlace(options)) }, options);
  const remote = namedCluster(cluster, `cluster ${clusterName}`);
  const { dryRun } = options;
  const register = (within: Within, management: Cluster): Promise<void> =>
    registerAgent({
      management: namedCluster(within(management), "management cluster"),
      remote: within(remote),
      isDryRun: dryRun === true,
      ...given,
      clusterName,
      managementNamespace: options.mgmtNamespace,
      remoteNamespace: options.remoteNamespace,
      clusterDomain: options.clusterDomain,
      mode: options.mode,
      relay,
      authority: options.relayAuthority,
      probe: options.probe ? probeRelay : undefined,
      precheck: (needs) => registrationProblems(targets, needs),
      tokenLifetimeMs: options.tokenTtl,
      clientCertificates: options.disableClientCertificates !== true,
      serverHasClientCertificates: () => serverSetup(management, options.mgmtNamespace),
      timeoutMs: options.timeout,
      rollback: options.rollback === true,
      interrupt: catchInterrupts(),
      agentComplaint: log === undefined ? undefined : () => agentComplaint(remote, options.remoteNamespace, log),
      hints: hintsFor(givenPlaces(options)),
      clock: systemClock,
      say: (line) => io.note(`${line}\n`),
      passed: (result) => {
        // What is only tried is not passed.
        if (dryRun !== true) io.note(`${gateText({ ...result, text: plainText(result.text) }, columns)}\n`);
      },
      progress: (text) => io.progress(plainText(text)),
    });
  const isDone = await doneOrTried(io, dryRun, (within) =>
    inManagementCluster(managementPlace(options), connect, (management) => register(within, management)),
  );
  if (isDone) io.note(`Cluster ${clusterName} is registered.\n`);
}

/** Whether the management server has client certificates; undefined where nothing says so, as of one that runs elsewhere. */
async function serverSetup(management: Cluster, namespace: string): Promise<boolean | undefined> {
  const { DeploymentStates, hasClientCertificates } = await import("../../plane/deployments.ts");
  const { ClusterError } = await import("@isthmus/ports");
  try {
    return hasClientCertificates((await management.list(DeploymentStates, { namespace })).items);
  } catch (error) {
    // Who registers clusters may not be allowed to see Deployments: then the agent's own complaint tells.
    if (error instanceof ClusterError && error.code === "Forbidden") return undefined;
    throw error;
  }
}

/** `meshctl cluster deregister` of a cluster with an agent. False: it is registered without one. */
export async function deregisterWithAgent(
  { connect, toRemote }: Pick<WithAgent, "connect" | "toRemote">,
  clusterName: string,
  {
    within,
    isDryRun,
    say,
    ...options
  }: PlaceOptions & {
    readonly force?: true;
    readonly purge?: true;
    readonly within: Within;
    readonly isDryRun: boolean;
    readonly say: (line: string) => void;
  },
): Promise<boolean> {
  const { deregisterAgent } = await import("../../cluster/register/deregisterAgent.ts");
  const { namedCluster } = await import("../../cluster/namedCluster.ts");
  const { systemClock } = await import("@isthmus/plane/clock");
  return inManagementCluster(managementPlace(options), connect, async (management) =>
    deregisterAgent({
      management: within(management),
      isDryRun,
      remote:
        options.force === true
          ? undefined
          : async () => namedCluster(within((await toRemote(remotePlace(options))).cluster), `cluster ${clusterName}`),
      clusterName,
      managementNamespace: options.mgmtNamespace,
      remoteNamespace: options.remoteNamespace,
      purges: options.purge === true,
      clock: systemClock,
      say,
    }),
  );
}

async function givenRelay({ relayServerAddress }: RegisterAgentOptions): Promise<Pick<RelayAddress, "host" | "port"> | undefined> {
  if (relayServerAddress === undefined) return undefined;
  const { readAddress } = await import("../../cluster/register/relayAddress.ts");
  return readAddress(relayServerAddress);
}

/** Prints what registers a cluster on its other side: on standard output, so that it can be kept. */
async function printRegistration(
  { io, connect }: WithAgent,
  clusterName: string,
  options: PlaceOptions & Omit<RegisterAgentOptions, "values"> & Pick<PrintedRegistration, "relay" | "values">,
): Promise<void> {
  if (options.printJoin === true && options.printGitops === true)
    throw new UsageError("--print-join and --print-gitops are mutually exclusive");
  const { committedObjects, joinObjects } = await import("../../cluster/register/printed.ts");
  const { yamlText } = await import("../../offline/yamlText.ts");
  const { systemClock } = await import("@isthmus/plane/clock");
  const documents = (objects: readonly object[]): string => objects.map((object) => `---\n${yamlText(object)}`).join("");
  const printed = (management: Cluster) => ({
    management,
    managementNamespace: options.mgmtNamespace,
    remoteNamespace: options.remoteNamespace,
    clusterName,
    clusterDomain: options.clusterDomain ?? "cluster.local",
    mode: options.mode,
    relay: options.relay,
    authority: options.relayAuthority,
    clientCertificates: options.disableClientCertificates !== true,
    values: options.values,
  });
  if (options.printJoin === true) {
    const { objects, expiresAt } = await inManagementCluster(managementPlace(options), connect, (management) =>
      joinObjects(printed(management), { lifetimeMs: options.tokenTtl, clock: systemClock }),
    );
    const token =
      expiresAt === undefined
        ? "the shared token, whose holder can act as any cluster"
        : `a join token, which is valid once until ${new Date(expiresAt).toISOString()}`;
    io.note(`Paste this into a shell whose kubectl is connected to ${clusterName}. It contains ${token}.\n`);
    await io.out(`kubectl apply --server-side --field-manager=meshctl -f - <<'END_OF_MANIFEST'\n${documents(objects)}END_OF_MANIFEST\n`);
    return;
  }
  const { management, remote } = await inManagementCluster(managementPlace(options), connect, (cluster) =>
    committedObjects(printed(cluster)),
  );
  const token =
    options.disableClientCertificates === true
      ? `copy the shared one:\n  meshctl cluster token shared --agent-namespace ${options.remoteNamespace} | kubectl apply -f -\n`
      : "create it when the first part is applied, within 15 minutes before the agent starts:\n" +
        `  meshctl cluster token create --cluster ${clusterName} --ttl 15m --manifest --agent-namespace ${options.remoteNamespace} | kubectl apply -f -\n`;
  io.err(
    "Nothing was created. Commit the first part for the management cluster, the rest for the other one. The agent also needs a token, which\n" +
      `must not be committed; ${token}`,
  );
  await io.out(
    `# For the management cluster\n${documents(management)}# For ${clusterName}; its token is not part of it: Secret ${options.remoteNamespace}/relay-identity-token-secret, key token\n${documents(remote)}`,
  );
}
