import type { KubernetesCluster } from "@isthmus/api";
import { type AnyResource, type Clock, kindKeyOf, messageOf, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import type { NeededFoundations } from "../install/installPlane.ts";
import { endedBy, Interrupted, interruptible, orInterrupted } from "../interruption.ts";
import { namespaceToCreate, RemoteNamespace } from "../remoteAccess.ts";
import { agentDefinitions, kindOfDefinition } from "./agentDefinitions.ts";
import { AGENT, checkAgentInstallation, isAgent } from "./agentManifest.ts";
import { type AgentValues, agentToInstall, pruneAgent, refuseForgottenValues } from "./agentWithValues.ts";
import { clockAhead, clockOffsets, clockWarning } from "./clocks.ts";
import {
  checkClusterName,
  completeRegistration,
  isTaken,
  isUnfinished,
  type RegistrationOfName,
  reserveName,
  uidOfCluster,
} from "./clusterNames.ts";
import { GateFailure, type GateKeeper, type GateResult, gateKeeper, type Look } from "./gates.ts";
import type { Hints } from "./hints.ts";
import { lookAtCertificate, lookAtPods, lookAtSnapshot } from "./looks.ts";
import { applyObjects, type Change, takeBack, withoutUnservedPolicies } from "./ownObjects.ts";
import { addressText, findRelayAddress, type RelayAddress } from "./relayAddress.ts";
import {
  agentSecretsToApply,
  checkCallToken,
  forgetCertificate,
  type MintedToken,
  mintToken,
  type Places,
  planToken,
  rootInCluster,
  rootToGive,
  type TokenPlan,
} from "./relaySecrets.ts";
import { removeFoundations } from "./removeFoundations.ts";
import { removeRegistration } from "./removeRegistration.ts";
import { refuseServersNamespace } from "./serversNamespace.ts";

/** Connects to a server as an agent would. What it finds, in words; undefined when all is well. */
export type Probe = (relay: RelayAddress, root: string) => Promise<ProbeProblem | undefined>;

export interface ProbeProblem {
  /** Whether somebody answered, who is not the management server. */
  readonly isAnswered: boolean;
  readonly message: string;
}

/** One cluster to be registered, with an agent in it. */
export interface AgentRegistration extends Places {
  readonly clusterName: string;
  /** Undefined: what the KubernetesCluster says, else cluster.local. */
  readonly clusterDomain: string | undefined;
  /** What is written in the cluster from the start; undefined: what the KubernetesCluster says, else everything. */
  readonly mode: string | undefined;
  /** Where the agent is to connect; undefined: where the management cluster says. */
  readonly relay: Pick<RelayAddress, "host" | "port"> | undefined;
  /** The name in the server's certificate; undefined: that of its Service. */
  readonly authority: string | undefined;
  /** Undefined: the server is not tried from here, as only the cluster may reach it. */
  readonly probe: Probe | undefined;
  /** What is wrong with the clusters, or with the rights of their users; none when all is well. */
  readonly precheck: (needs: NeededFoundations) => Promise<readonly string[]>;
  readonly tokenLifetimeMs: number;
  /** Whether the agent obtains a certificate; else each of its calls carries the shared token. */
  readonly clientCertificates: boolean;
  /** The same of the management server, as its Deployment says; undefined where none can be read. */
  readonly serverHasClientCertificates: () => Promise<boolean | undefined>;
  /** Values of the agent chart; undefined: its defaults. */
  readonly values: AgentValues | undefined;
  /** Whether values of an earlier registration end with this one. */
  readonly resetsValues: boolean;
  readonly timeoutMs: number;
  /** Undoes what was made when a gate does not open. */
  readonly rollback: boolean;
  /** The clusters only tell what would be changed: nothing is waited for. */
  readonly isDryRun: boolean;
  /** The last that the agent has said of why it is not connected, where that can be read. */
  readonly agentComplaint: (() => Promise<string | undefined>) | undefined;
  readonly hints: Hints;
  readonly clock: Clock;
  readonly say: (line: string) => void;
  readonly passed: (result: GateResult) => void;
  readonly progress: (text: string) => void;
  /** Aborted when the user has ended the command. */
  readonly interrupt: AbortSignal;
}

/** What is known before anything is written. */
interface Plan {
  readonly naming: RegistrationOfName;
  readonly existing: KubernetesCluster | undefined;
  /** Certificates may be refused, as clocks differ. */
  readonly clockWarning: string | undefined;
  /** The clock of the management cluster. */
  readonly clock: Pick<Clock, "now">;
}

/**
 * Registers a cluster: finds the server, creates the KubernetesCluster and a join token, applies the agent, and waits until all that
 * it reports is known. May be repeated. Throws UsageError with the cause and what to do next; with `rollback` after taking back all
 * that was made, also when it is interrupted.
 */
export async function registerAgent(registration: AgentRegistration): Promise<void> {
  const changes: Change[] = [];
  let plan: Plan | undefined;
  let isWritten = false;
  const written = (): void => {
    isWritten = true;
  };
  const { interrupt, precheck, serverHasClientCertificates, agentComplaint, probe } = registration;
  // Of what is not to be undone nobody has to know whether it was done.
  const [management, remote] = [registration.management, registration.remote].map((cluster) =>
    interruptible(cluster, interrupt, { losesWrites: !registration.rollback }),
  ) as [Cluster, Cluster];
  const working: AgentRegistration = {
    ...registration,
    management,
    remote,
    precheck: (needs) => orInterrupted(() => precheck(needs), interrupt),
    serverHasClientCertificates: () => orInterrupted(serverHasClientCertificates, interrupt),
    agentComplaint: agentComplaint && (() => orInterrupted(agentComplaint, interrupt)),
    probe: probe && ((relay, root) => orInterrupted(() => probe(relay, root), interrupt)),
  };
  // What is undone is no longer interrupted.
  const changed = (change: Change): void => {
    changes.push({ ...change, cluster: change.cluster === remote ? registration.remote : registration.management });
  };
  try {
    checkNames(registration);
    plan = await planOf(working);
    await throughGates(working, plan, { written, changed });
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof ClusterError)) throw error;
    if (plan === undefined) throw endedBy(error, messageOf(error));
    throw await failed(registration, { plan, changes: isWritten && !registration.isDryRun ? changes : undefined, error });
  }
}

/** What is wrong whatever the clusters say: before they are asked. */
function checkNames({ clusterName, remoteNamespace: namespace, managementNamespace, relay, authority }: AgentRegistration): void {
  const given = { host: "localhost", port: 0, ...relay, authority: authority ?? "localhost" };
  checkAgentInstallation({ clusterName, namespace, managementNamespace, relay: given });
}

async function planOf(registration: AgentRegistration): Promise<Plan> {
  const { management, remote, managementNamespace: namespace, clusterName, clock, say } = registration;
  const naming = { clusterName, namespace, uid: await uidOfCluster(remote) };
  const existing = await checkClusterName(management, naming);
  if (existing?.status?.clusterUid !== naming.uid) await refuseServersNamespace(remote, registration.remoteNamespace);
  const { missing, namespace: missingNamespace } = await missingFoundations(registration);
  await refuseForgottenValues(registration);
  const problems = await registration.precheck({ namespace: missingNamespace !== undefined, definitions: missing.length > 0 });
  if (problems.length > 0) throw new UsageError(problems.join("; "));
  const offsets = await clockOffsets(registration, clock);
  const warning = clockWarning(offsets);
  if (warning !== undefined) say(`warning: ${warning}`);
  return { naming, existing, clockWarning: warning, clock: clockAhead(clock, offsets.management) };
}

interface Journal {
  /** From now on there may be something to take back. */
  readonly written: () => void;
  readonly changed: (change: Change) => void;
}

async function throughGates(registration: AgentRegistration, plan: Plan, { written, changed }: Journal): Promise<void> {
  const { management, managementNamespace, remote, remoteNamespace, clusterDomain, mode, hints, clusterName, tokenLifetimeMs } =
    registration;
  const gates = gateKeeper(registration);
  const { naming, existing } = plan;
  const relay = await throughAddress(registration, gates);
  const { clientCertificates } = registration;
  const inAgentsNamespace = { clusterName, namespace: remoteNamespace, managementNamespace, relay, clientCertificates };
  // Before anything is written: what Helm refuses leaves nothing behind.
  const agent = await agentToInstall(registration, gates, inAgentsNamespace);

  let tokenPlan = "join" as TokenPlan;
  let token: MintedToken | undefined;
  await gates.pass("token", [hints.management("get", "secrets", "-l", "isthmus.mesh/join-token")], async () => {
    await checkSetup(registration);
    if (clientCertificates) tokenPlan = await planToken(registration, existing, naming.uid);
    else {
      tokenPlan = "calls";
      await checkCallToken(registration);
    }
    if (tokenPlan === "shared" && mode !== undefined && mode !== "manage") throw new UsageError(sharedTokenManages(registration));
    // Tried first: of two that register one name at once, the second one has written nothing.
    if (tokenPlan !== "shared") await reserveName(management, naming, { clusterDomain, mode }, { dryRun: true });
    written();
    // Of an earlier registration: the server would take it, and not register the cluster again. Before the KubernetesCluster is there.
    if (tokenPlan !== "certificate" && tokenPlan !== "calls" && existing?.status?.clusterUid !== naming.uid)
      await forgetCertificate(registration);
    if (tokenPlan !== "shared") await reserveName(management, naming, { clusterDomain, mode });
    if (tokenPlan === "shared") return `the shared token in Secret ${remoteNamespace}/relay-identity-token-secret, as it was copied there`;
    if (tokenPlan === "calls") return "the shared token, on each call of the agent: its holder can act as any cluster";
    if (tokenPlan === "certificate") return "not needed: the agent has a certificate and is connected";
    token = await mintToken(registration, { clusterName, lifetimeMs: tokenLifetimeMs, clock: plan.clock });
    return `join token for ${clusterName}, valid once until ${new Date(token.expiresAt).toISOString()}`;
  });

  const { objects } = agent;
  await gates.pass("pods", [hints.remote("get", "all")], async () => {
    await ensureFoundations(registration, changed);
    const secrets = await agentSecretsToApply(registration, clientCertificates ? token : "shared");
    const others = await withoutUnservedPolicies(
      remote,
      objects.filter((object) => !isAgent(object)),
    );
    await applyObjects(remote, [...secrets, ...others, ...objects.filter(isAgent)], changed);
    return `Deployment ${remoteNamespace}/${AGENT} is applied`;
  });
  if (registration.isDryRun) return void (await pruneAgent(registration, agent));
  await gates.wait("pods", [hints.remote("describe", "pods", "-l", `app=${AGENT}`)], () => lookAtPods(remote, remoteNamespace));
  await gates.pass("TLS", [hints.remote("get", "secret", "relay-root-tls-secret", "-o", "yaml")], () => verified(registration, relay));

  const registered = { management, managementNamespace, clusterName, uid: naming.uid };
  const logs = [hints.remote("logs", `deployment/${AGENT}`)];
  const certificate = clientCertificates ? { remote, remoteNamespace, tokenName: token?.secretName } : undefined;
  await gates.wait("certificate", logs, () => explained(registration, plan, lookAtCertificate(registered, certificate)));
  await gates.wait("first snapshot", [...logs, hints.management("describe", "kubernetescluster", clusterName)], () =>
    explained(registration, plan, lookAtSnapshot(registered)),
  );
  await pruneAgent(registration, agent);
  // What the server made with the shared token has no domain yet.
  if (tokenPlan !== "shared" || clusterDomain !== undefined) await completeRegistration(management, naming, { clusterDomain, mode });
}

/** Server and agent must agree on how agents are authenticated: else the one refuses the other for ever. Throws UsageError. */
async function checkSetup({ clientCertificates, serverHasClientCertificates }: AgentRegistration): Promise<void> {
  const ofServer = await serverHasClientCertificates();
  if (ofServer === undefined || ofServer === clientCertificates) return;
  throw new UsageError(
    ofServer
      ? "the management server requires client certificates: leave out --disable-client-certificates"
      : "the management server runs without client certificates, so the agent has to, too: add --disable-client-certificates",
  );
}

/** The server creates the KubernetesCluster then, and the cluster is managed until somebody says otherwise. */
function sharedTokenManages({ remoteNamespace, mode }: AgentRegistration): string {
  return (
    `--mode ${mode}: with the shared token in Secret ${remoteNamespace}/relay-identity-token-secret of this cluster it would be managed from the start: ` +
    `delete it, so that meshctl can create a join token: kubectl -n ${remoteNamespace} delete secret relay-identity-token-secret`
  );
}

/** Finds the server, and tries it before anything is written. */
async function throughAddress(registration: AgentRegistration, gates: GateKeeper): Promise<RelayAddress> {
  const { management, managementNamespace, relay: given, authority, probe, hints } = registration;
  let problem: ProbeProblem | undefined;
  let relay: RelayAddress | undefined;
  const services = [hints.management("get", "services", "-o", "wide")];
  await gates.pass("address", services, async () => {
    const found = given === undefined ? await findRelayAddress(management, managementNamespace) : undefined;
    relay = {
      ...(found ?? {
        ...(given as Pick<RelayAddress, "host" | "port">),
        authority: `gloo-mesh-mgmt-server.${managementNamespace}`,
        source: "--relay-server-address",
      }),
      ...(authority === undefined ? {} : { authority }),
    };
    problem = await probe?.(relay, await rootToGive(management, managementNamespace));
    if (problem !== undefined && !problem.isAnswered) {
      throw new UsageError(`${problem.message} (${relay.source}); if only the cluster can reach it, add --no-probe`);
    }
    return `${addressText(relay)} (${relay.source})${probe === undefined ? ", not tried from here" : ""}`;
  });
  const tls = problem;
  if (tls !== undefined) await gates.pass("TLS", services, () => Promise.reject(new UsageError((tls as ProbeProblem).message)));
  return relay as unknown as RelayAddress;
}

/** The agent verifies the server with the root that is in its cluster, which may be another than ours. */
async function verified({ remote, remoteNamespace, probe }: AgentRegistration, relay: RelayAddress): Promise<string> {
  const root = await rootInCluster(remote, remoteNamespace);
  if (probe === undefined) return `not tried from here; the agent requires a certificate for ${relay.authority}`;
  const problem = await probe(relay, root);
  if (problem !== undefined) throw new UsageError(problem.message);
  return `the server's certificate is for ${relay.authority}, from the root in the cluster`;
}

/** Adds to what is waited for what the agent says of it. */
async function explained({ agentComplaint }: AgentRegistration, { clockWarning: warning }: Plan, looking: Promise<Look>): Promise<Look> {
  const look = await looking;
  if (!("waiting" in look)) return look;
  const complaint = await agentComplaint?.();
  const causes = [
    look.waiting,
    ...(complaint === undefined ? [] : [`the agent says: ${complaint}`]),
    ...(warning === undefined ? [] : [warning]),
  ];
  return { waiting: causes.join("; ") };
}

/** The namespace and the CRDs, where they are missing: what others have made of these is left as it is. */
async function ensureFoundations(registration: AgentRegistration, changed: (change: Change) => void): Promise<void> {
  const { missing, namespace } = await missingFoundations(registration);
  await applyObjects(registration.remote, [...missing, ...(namespace === undefined ? [] : [namespace])], changed);
}

interface Foundations {
  /** CRDs. */
  readonly missing: readonly AnyResource[];
  readonly namespace: AnyResource | undefined;
}

async function missingFoundations({ remote, remoteNamespace: name }: AgentRegistration): Promise<Foundations> {
  const found = await remote.get(RemoteNamespace, { name, namespace: "" });
  const served = new Set((await remote.servedKinds()).map(kindKeyOf));
  const missing = agentDefinitions().filter((crd) => !served.has(kindOfDefinition(crd)));
  return { missing, namespace: found === undefined ? namespaceToCreate(name) : undefined };
}

interface Failure {
  readonly plan: Plan;
  /** Undefined: nothing has been written. */
  readonly changes: readonly Change[] | undefined;
  readonly error: UsageError | ClusterError;
}

/** What to tell of a registration that failed: where, what shows more, and how to take back what was made. */
async function failed(registration: AgentRegistration, { plan, changes, error }: Failure): Promise<UsageError> {
  const { clusterName, rollback, hints } = registration;
  const gate = error instanceof GateFailure ? error : undefined;
  const cause = gate?.reason ?? error;
  const isInterrupted = cause instanceof Interrupted;
  const how = isInterrupted ? "was interrupted at" : "did not pass";
  const where = gate === undefined ? messageOf(error) : `${clusterName} is not registered: it ${how} the gate "${gate.gate}"`;
  // Nothing is wrong that could be looked at.
  const next = gate === undefined || isInterrupted ? [] : gate.next;
  const look = next.length === 0 ? "" : `\nTo look further:\n${next.map((command) => `  ${command}`).join("\n")}`;
  if (changes === undefined) return endedBy(cause, `${where}${look}\nNothing was created.`);
  if (!rollback) {
    return endedBy(cause, `${where}${look}\nTo take back what was created:\n  ${hints.meshctl("cluster", "deregister", clusterName)}`);
  }
  return endedBy(cause, `${where}${look}\n${await rolledBack(registration, plan, changes)}`);
}

async function rolledBack(registration: AgentRegistration, { existing, naming }: Plan, changes: readonly Change[]): Promise<string> {
  const { remote, remoteNamespace } = registration;
  if (existing?.status?.clusterUid === naming.uid && !isUnfinished(existing)) {
    // It was registered before: only what this run has changed is undone.
    return summary([...(await takeBack(changes))], []);
  }
  const keepsRegistration = existing !== undefined && !isUnfinished(existing);
  // Where that cannot be read, nothing of it is deleted, and the removal says so.
  const keepsTokens = await isTaken(registration.management, naming).catch((error: unknown) => {
    if (error instanceof ClusterError) return true;
    throw error;
  });
  const { problems } = await removeRegistration({ ...registration, keepsRegistration: keepsRegistration || keepsTokens, keepsTokens });
  try {
    return summary(problems, (await removeFoundations(remote, remoteNamespace, registration.clock)).kept);
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    return summary([...problems, error.message], []);
  }
}

function summary(problems: readonly string[], kept: readonly string[]): string {
  if (problems.length > 0) return `Not everything could be rolled back: ${problems.join("; ")}`;
  return `Rolled back: all that was created has been deleted.${kept.map((text) => `\n${text}`).join("")}`;
}
