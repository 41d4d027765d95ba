import { Secret } from "@isthmus/api";
import { type AnyResource, type Clock, formatRef, kindKeyOf, messageOf, refOf, UsageError } from "@isthmus/core";
import { RELAY_SECRETS } from "@isthmus/plane/installation";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { type ObjectPlace, pruneObjects } from "../charts/valuesRecord.ts";
import { endedBy, Interrupted, interruptible } from "../interruption.ts";
import { kindOfDefinition } from "../register/agentDefinitions.ts";
import { GateFailure, type GateResult, gateKeeper, type Look } from "../register/gates.ts";
import type { ManagementHints } from "../register/hints.ts";
import { lookAtPods } from "../register/looks.ts";
import { applyObjects, applyOne, type Change, isMadeByMeshctl } from "../register/ownObjects.ts";
import { addressText, findRelayAddress } from "../register/relayAddress.ts";
import { namespaceToCreate, RemoteNamespace } from "../remoteAccess.ts";
import { type FoundObject, type FoundPlane, findPlane, KEPT, refuseForeign } from "./foundPlane.ts";
import { relaySecretsIn, rollBackPlane } from "./rollbackPlane.ts";
import { REDIS, SERVER, serverObjects } from "./serverManifest.ts";
import { recordOfPlane, SERVER_APPS, type ServerValues, serverObjectsWith } from "./serverWithValues.ts";

/** What has to be created that not every user may create. */
export interface NeededFoundations {
  readonly namespace: boolean;
  readonly definitions: boolean;
}

/** One management plane to be installed, or upgraded. */
export interface PlaneInstallation {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Values of the chart; undefined: its defaults. */
  readonly values: ServerValues | undefined;
  /** Whether values of an earlier installation end with this one. */
  readonly resetsValues: boolean;
  /** What is wrong with the cluster, or with the rights of its user; none when all is well. */
  readonly precheck: (needs: NeededFoundations) => Promise<readonly string[]>;
  /** Whether to wait until the server runs. */
  readonly waits: boolean;
  readonly timeoutMs: number;
  /** Undoes what this run made when a gate does not open. */
  readonly rollback: boolean;
  readonly hints: ManagementHints;
  readonly clock: Clock;
  readonly passed: (result: GateResult) => void;
  readonly progress: (text: string) => void;
  readonly say: (line: string) => void;
  /** Aborted when the user has ended the command. */
  readonly interrupt: AbortSignal;
}

/** What is going to be applied. */
interface InstallationPlan {
  /** The CRDs that are absent, and those that meshctl has made. What others have made stays as it is. */
  readonly definitions: readonly FoundObject[];
  readonly kept: number;
  readonly namespace: AnyResource | undefined;
  readonly objects: readonly FoundObject[];
  /** Names of what a Helm release has left that is gone. */
  readonly left: readonly string[];
  /** What an earlier installation may have made. */
  readonly earlier: readonly (AnyResource | ObjectPlace)[];
}

/**
 * Installs the management plane, or upgrades one that meshctl has installed, and waits until agents can connect to it. May be repeated.
 * Throws UsageError with the cause and what to do next; with `rollback` after taking back what it has made and changed, also when it is interrupted.
 */
export async function installPlane(installation: PlaneInstallation): Promise<void> {
  const changes: Change[] = [];
  const secretsBefore = installation.rollback ? await relaySecretsIn(installation.cluster, installation.namespace) : undefined;
  try {
    const working = { ...installation, cluster: interruptible(installation.cluster, installation.interrupt) };
    await throughGates(working, (change) => {
      // What is undone is no longer interrupted.
      changes.push({ ...change, cluster: installation.cluster });
    });
  } catch (error) {
    if (!(error instanceof GateFailure)) throw error;
    const { gate, reason, next } = error;
    const isInterrupted = reason instanceof Interrupted;
    const how = isInterrupted ? "was interrupted at" : "did not pass";
    // Nothing is wrong that could be looked at.
    const look = isInterrupted ? "" : `To look further:\n${next.map((command) => `  ${command}`).join("\n")}\n`;
    const undo = await undone(installation, changes, secretsBefore);
    throw endedBy(reason, `the management plane is not installed: it ${how} the gate "${gate}"\n${look}${undo}`);
  }
}

/** How what was applied is undone, or that it was. */
async function undone(
  { cluster, namespace, clock, rollback, hints }: PlaneInstallation,
  changes: readonly Change[],
  secretsBefore: ReadonlySet<string> | undefined,
): Promise<string> {
  if (changes.length === 0) return "Nothing was changed.";
  if (!rollback) return `To take back what was applied:\n  ${hints.meshctl("uninstall")}`;
  const { problems, kept } = await rollBackPlane({ cluster, namespace, clock, changes, secretsBefore });
  const rest = kept.map((text) => `\n${text}`).join("");
  if (problems.length > 0) return `Not everything could be rolled back: ${problems.join("; ")}${rest}`;
  return `Rolled back: what this run created is deleted, and what it changed is as before.${rest}`;
}

/** What an installation would apply, one object per line, after the API server was asked to try it. Nothing is written. */
export async function previewInstallation(installation: PlaneInstallation): Promise<readonly string[]> {
  const plan = await planOf(installation);
  const line = (found: AnyResource | undefined, wanted: AnyResource): string =>
    `${formatRef(refOf(wanted))}: would be ${found === undefined ? "created" : "applied again"}`;
  for (const { desired, kind, isToCome } of [...plan.definitions, ...plan.objects]) {
    // Nothing can be tried in a namespace that is not there.
    if (isToCome !== true && (plan.namespace === undefined || !kind.namespaced))
      await applyOne(installation.cluster, desired, { dryRun: true });
  }
  return [
    ...plan.definitions.map(({ found, desired }) => line(found, desired)),
    ...(plan.namespace === undefined ? [] : [line(undefined, plan.namespace)]),
    ...plan.objects.map(({ found, desired }) => line(found, desired)),
  ];
}

async function planOf({ cluster, namespace, values, resetsValues, precheck }: PlaneInstallation): Promise<InstallationPlan> {
  const plane = await findPlane(cluster, namespace, {
    helm: "upgrade",
    ...(values === undefined ? {} : { objects: await serverObjectsWith(namespace, values) }),
  });
  const record = await recordOfPlane(cluster, namespace);
  if (record !== undefined && values === undefined && !resetsValues) {
    throw new UsageError(
      `the management plane in namespace ${namespace} has values of its own, which this command would take away: pass its --values and --set again, or --reset-values`,
    );
  }
  const objects = plane.objects.filter(({ isLeftByHelm }) => isLeftByHelm !== true);
  await refuseForeign(cluster, namespace, { ...plane, objects });
  const place = await cluster.get(RemoteNamespace, { name: namespace, namespace: "" });
  const needs = { namespace: place === undefined, definitions: definitionsOf(plane).length > 0 };
  const problems = await precheck(needs);
  if (problems.length > 0) throw new UsageError(problems.join("; "));
  const definitions = definitionsOf(plane);
  return {
    definitions,
    kept: plane.definitions.length - definitions.length,
    namespace: place === undefined ? namespaceToCreate(namespace) : undefined,
    objects,
    left: plane.objects.flatMap(({ found, isLeftByHelm }) =>
      isLeftByHelm === true && found !== undefined ? [formatRef(refOf(found))] : [],
    ),
    earlier: [...serverObjects(namespace), ...(record ?? [])],
  };
}

function definitionsOf({ definitions }: FoundPlane): readonly FoundObject[] {
  return definitions.filter(({ found }) => found === undefined || isMadeByMeshctl(found));
}

async function throughGates(installation: PlaneInstallation, changed: (change: Change) => void): Promise<void> {
  const { cluster, namespace, hints, waits } = installation;
  const gates = gateKeeper(installation);
  let plan: InstallationPlan = { definitions: [], kept: 0, namespace: undefined, objects: [], left: [], earlier: [] };
  await gates.pass("precheck", [hints.kubectl("get", "deployments,services", "-o", "wide")], async () => {
    plan = await planOf(installation);
    if (plan.objects.some(({ found }) => found !== undefined))
      return `meshctl has installed a management plane in namespace ${namespace}: it is applied again`;
    const left = plan.left.length === 0 ? "" : `; ${plan.left.join(", ")}, which a Helm release has left, is used as it is`;
    return `no management plane is in namespace ${namespace}, and your user may install it${left}`;
  });
  await gates.pass("CRDs", [hints.kubectl("get", "customresourcedefinitions")], async () => {
    await applyObjects(cluster, wantedOf(plan.definitions), changed);
    return `${plan.definitions.length} applied${plan.kept === 0 ? "" : `, ${plan.kept} left as others have made them`}`;
  });
  await gates.wait("CRDs", [hints.kubectl("describe", "customresourcedefinitions")], () => lookAtKinds(cluster, plan.definitions));
  await gates.pass("objects", [hints.kubectl("get", "all")], async () => {
    const place = plan.namespace === undefined ? [] : [plan.namespace];
    await applyObjects(cluster, [...place, ...wantedOf(plan.objects)], changed);
    const created = plan.objects.filter(({ found }) => found === undefined).length;
    return `of the management server: ${created} created, ${plan.objects.length - created} applied again`;
  });
  if (!waits) return prune(installation, plan);
  const deployments = [REDIS, SERVER].filter((name) => plan.objects.some(({ desired }) => isNamed(desired, "Deployment", name)));
  for (const name of deployments) {
    const next = [hints.kubectl("describe", "pods", "-l", `app=${name}`)];
    await gates.wait("pods", next, () => lookAtPods(cluster, namespace, name));
  }
  await gates.wait("Secrets", [hints.kubectl("logs", `deployment/${SERVER}`)], () => lookAtSecrets(cluster, namespace));
  if (isReachable(plan))
    await gates.wait("address", [hints.kubectl("describe", "service", SERVER)], () => lookAtAddress(cluster, namespace));
  await prune(installation, plan);
}

/** Deletes what an earlier installation has made with other values, and says so. */
async function prune({ cluster, say }: PlaneInstallation, { objects, earlier }: InstallationPlan): Promise<void> {
  const now = wantedOf(objects);
  for (const name of await pruneObjects(cluster, { earlier, now, apps: SERVER_APPS, kept: KEPT }))
    say(`deleted ${name}, which these values do not have`);
}

/** Whether other clusters reach the Service itself: else agents come through a gateway of the user's, and nothing is to be waited for. */
function isReachable({ objects }: InstallationPlan): boolean {
  const service = objects.find(({ desired }) => isNamed(desired, "Service", SERVER))?.desired as
    | { readonly spec?: { readonly type?: string } }
    | undefined;
  return (service?.spec?.type ?? "ClusterIP") !== "ClusterIP";
}

function isNamed({ kind, metadata }: AnyResource, wanted: string, name: string): boolean {
  return kind === wanted && metadata.name === name;
}

function wantedOf(objects: readonly FoundObject[]): readonly AnyResource[] {
  return objects.map(({ desired }) => desired);
}

async function lookAtKinds(cluster: Cluster, definitions: readonly FoundObject[]): Promise<Look> {
  const served = new Set((await cluster.servedKinds()).map(kindKeyOf));
  const missing = definitions.filter(({ desired }) => !served.has(kindOfDefinition(desired))).map(({ desired }) => desired.metadata.name);
  return missing.length === 0
    ? { open: "the API server serves all of them" }
    : { waiting: `the API server does not serve ${missing.join(", ")}` };
}

async function lookAtSecrets(cluster: Cluster, namespace: string): Promise<Look> {
  const needed = [
    [RELAY_SECRETS.root, "ca.crt"],
    [RELAY_SECRETS.server, "tls.crt"],
    [RELAY_SECRETS.token, "token"],
  ] as const;
  const found = await Promise.all(needed.map(([name]) => cluster.get(Secret, { name, namespace })));
  const missing = needed.filter(([, key], i) => (found[i]?.data?.[key] ?? "") === "").map(([name]) => `${namespace}/${name}`);
  if (missing.length > 0) return { waiting: `the server has not created ${missing.join(", ")}` };
  return { open: "root and server certificates and the token of the relay exist" };
}

/** Where agents connect: a load balancer takes its time. */
async function lookAtAddress(cluster: Cluster, namespace: string): Promise<Look> {
  try {
    const relay = await findRelayAddress(cluster, namespace);
    return { open: `${addressText(relay)} (${relay.source})` };
  } catch (error) {
    if (error instanceof ClusterError || !(error instanceof UsageError)) throw error;
    return { waiting: `${messageOf(error)} of meshctl cluster register` };
  }
}
