import {
  answerProblem,
  authorityFacts,
  authorityStep,
  createMeshRequest,
  fingerprints,
  generationsInUse,
  type InstalledAuthority,
  InvalidPem,
  isHandedOut,
  meshKeyBits,
  podsToRestart,
  type TrustGeneration,
  trustInForce,
} from "@isthmus/certificates";
import { type Clock, equalJson, type Log, type Resource, refOf, resourceKeyOf, uptimeOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { decodedText } from "../../identity/secretData.ts";
import { coalesced } from "../../runtime/coalesce.ts";
import { ambientProblem, problemOfCluster } from "../installProblems.ts";
import type { InternalResources } from "../internalResources.ts";
import {
  AuthorityProblem,
  type FoundAuthority,
  findAuthority,
  forgetPendingKey,
  installAuthority,
  isTransient,
  noteGenerations,
  pendingKey,
  type SecretRef,
  unconfirmed,
} from "./authoritySecrets.ts";
import { problemLog } from "./certificateObjects.ts";
import {
  answerIn,
  changesRoots,
  contradictionOf,
  controlPlanesOfOrder,
  earlyAnswer,
  isOneDemand,
  type Order,
  optionsOf,
  orderedGeneration,
  ordersBySecret,
  type RootOrder,
  trustIn,
} from "./certificateOrders.ts";
import { certificateReport, type MeshReport, requestReport } from "./certificateReports.ts";
import { CLOCK_SKEW_MS, outdatedPods, reloads, unreadBy } from "./controlPlaneReads.ts";
import { type ExternalOffer, externalAuthorities } from "./externalAuthorities.ts";
import type { ReadLeafValidity } from "./leafRenewals.ts";
import { type ControlPlanes, haveRootsArrived, type MeshPods, rootsHandedOut, withoutLeft } from "./meshProxies.ts";
import { meshRestarts } from "./meshRestarts.ts";
import { multiRootMeshes, type Renewal, renewingText, withOtherBytes, withTextOf } from "./multiRoot.ts";
import { workloadOf } from "./podRestarts.ts";
import type { NotedGeneration } from "./trustTimes.ts";
import type { VaultAuthority } from "./vaultAuthority.ts";

type RequestSubject = Parameters<typeof createMeshRequest>[1];

/** Makes, requests and installs the CAs of the meshes in this cluster, as the server orders. Keys stay in Secrets of this cluster. */
export interface CertificateLoop {
  /** Something else is ordered. */
  changed(): void;
  readonly ended: Promise<void>;
}

export interface CertificateLoopOptions {
  /** Refuses what the mode of the cluster forbids. */
  readonly cluster: Cluster;
  /** Where keys of requested CAs are kept. */
  readonly namespace: string;
  /** Where orders come from, and reports go to. */
  readonly internal: () => Pick<InternalResources, "ordered" | "report"> | undefined;
  /** Signs where the management server does not; undefined: no server outside may be called. */
  readonly vault: VaultAuthority | undefined;
  /** Asks proxies how old their certificates are; undefined: nobody does, and each change of roots restarts them. */
  readonly leafValidity: ReadLeafValidity | undefined;
  /** Restarts workloads by rollouts. Default: by evictions. */
  readonly restartsByRollout?: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Runs at the start, after each `changed`, and every 2 to 60 s, until `signal` is aborted. A failure is tried again, and reported in the
 * status of its IssuedCertificate unless it is transient; only a programming error rejects `ended`.
 */
export function startCertificateLoop(options: CertificateLoopOptions, signal: AbortSignal): CertificateLoop {
  const { cluster, namespace, internal, vault, leafValidity, clock, log } = options;
  const externals = externalAuthorities({ vault, clock, log });
  const tell = problemLog(log);
  /** The last report on each order. */
  const reported = new Map<string, readonly Resource[]>();
  /** Signing a request costs the more, the longer its key. */
  const requests = new Map<string, { readonly key: string; readonly subject: RequestSubject; readonly request: string }>();
  const firstFound = new Map<string, { readonly what: string; readonly since: number }>();
  const restarts = meshRestarts({ cluster, byRollout: options.restartsByRollout === true, clock, log }, signal);
  const ways = options.restartsByRollout === true ? { restartsByRollout: true as const } : {};
  const multiRoot = multiRootMeshes({ cluster, leafValidity, lookedFor, clock }, signal);
  let isSettled = true;
  let isRestarting = false;

  async function run(): Promise<void> {
    const resources = internal();
    const ordered = resources?.ordered;
    if (resources === undefined || ordered === undefined) return;
    const reports: Resource[] = [];
    let [isWaiting, restarting] = [false, false];
    let pods: Promise<MeshPods> | undefined;
    for (const orders of ordersBySecret(ordered.values())) {
      const [order] = orders;
      const leave = order.spec?.trust?.leave ?? [];
      const podsOf = (place: ControlPlanes) => (pods ??= multiRoot.pods(place).then((found) => withoutLeft(found, leave)));
      const report = isOneDemand(orders)
        ? await restarted(order, await reportOn(order, ordered, podsOf), podsOf)
        : { state: "FAILED" as const, error: contradictionOf(orders) };
      if (signal.aborted) return;
      if (report?.state !== "FINISHED") isWaiting = true;
      if (report?.restarting !== undefined) restarting = true;
      for (const one of orders) {
        const key = resourceKeyOf(refOf(one));
        if (report !== undefined) {
          tell(one, report.error);
          const request = report.request === undefined || one !== order ? [] : [requestReport(one, report.request)];
          reported.set(key, [certificateReport(one, { ...report, ...ways }), ...request]);
        }
        reports.push(...(reported.get(key) ?? []));
      }
      // Another control plane has other labels.
      pods = undefined;
    }
    [isSettled, isRestarting] = [!isWaiting, restarting];
    // What was ordered meanwhile is looked at in the next round.
    if (internal()?.ordered === ordered) resources.report(reports);
  }

  async function reportOn(
    order: Order,
    ordered: ReadonlyMap<string, Resource>,
    podsOf: (place: ControlPlanes) => Promise<MeshPods>,
  ): Promise<MeshReport | undefined> {
    try {
      return await step(order, ordered, podsOf);
    } catch (error) {
      // What was reported before stays: the order that it repeats is the one that it is about.
      if (signal.aborted || isTransient(error)) return undefined;
      if (error instanceof AuthorityProblem || error instanceof InvalidPem) return { state: "FAILED", error: error.message };
      if (!(error instanceof ClusterError)) throw error;
      return { state: "FAILED", error: problemOfCluster(order, error) };
    }
  }

  /** For how long the same has been found at a place, in milliseconds: only the time that passes counts, whatever clocks show. */
  function lookedFor(place: string, what: string): number {
    const known = firstFound.get(place);
    const since = known?.what === what ? known.since : uptimeOf(clock);
    firstFound.set(place, { what, since });
    return uptimeOf(clock) - since;
  }

  /** Restarts what has to, where users want it: the control plane first. */
  async function restarted(
    order: Order,
    report: MeshReport | undefined,
    podsOf: (place: ControlPlanes) => Promise<MeshPods>,
  ): Promise<MeshReport | undefined> {
    const { restart = [], unread = [], restartsCountFrom = 0 } = report ?? {};
    if (report === undefined || order.spec?.podBounceDirective === undefined || restart.length + unread.length === 0) return report;
    // Earlier, it would be in vain: times of pods are whole seconds.
    if (lookedFor(resourceKeyOf(refOf(order)), String(restartsCountFrom)) < CLOCK_SKEW_MS + 1_000) return report;
    // The users of another control plane have not asked for it.
    const own = restart.filter(({ isOfOther }) => isOfOther !== true);
    try {
      const { proxies, controlPlane } = await podsOf(controlPlanesOfOrder(order));
      const isControlPlane = unread.length > 0;
      const restarting = await restarts.next(order.metadata.name, {
        all: [...controlPlane, ...proxies],
        outdated: isControlPlane ? unread : own,
        leave: order.spec.trust?.leave ?? [],
        isControlPlane,
        since: restartsCountFrom,
      });
      return restarting === undefined ? report : { ...report, restarting };
    } catch (error) {
      if (signal.aborted || !(error instanceof ClusterError)) throw error;
      return report;
    }
  }

  async function step(
    order: Order,
    ordered: ReadonlyMap<string, Resource>,
    podsOf: (place: ControlPlanes) => Promise<MeshPods>,
  ): Promise<MeshReport> {
    const { spec = {} } = order;
    const ref = { name: spec.issuedCertificateSecret?.name ?? "", namespace: spec.issuedCertificateSecret?.namespace ?? "" };
    if (ref.name === "" || ref.namespace === "") return { state: "PENDING" };
    const place = controlPlanesOfOrder(order);
    const found = await observed(await confirmed(await findAuthority(cluster, ref, signal), ref), ref, () => podsOf(place));
    const trust = withTextOf(found.facts.rootCertificates, trustIn(order));
    const offer = isExternal(order) ? await externals.offer(order, signal) : {};
    const reportWith = (known: FoundAuthority, renewal?: Renewal) =>
      trustReport(known, { trust, place, renewal, podsOf: () => podsOf(place) });
    const offered = offeredIn(offer);
    if (trust === undefined) {
      const problem = spec.trust?.problem ?? offer.problem;
      const base = { ...(await reportWith(found)), ...offered };
      return problem === undefined ? { state: "PENDING", ...base } : { state: "FAILED", error: problem, ...base };
    }
    if (await changesRoots(trust, found.facts)) {
      const problem = ambientProblem(order, (await podsOf(place)).nodeProxies);
      if (problem !== undefined) return { state: "FAILED", error: problem, ...(await reportWith(found)), ...offered };
    }
    const keyRef = { name: order.metadata.name, namespace };
    const answer = await answerTo(order, { trust, keyRef, ordered });
    const wanted = optionsOf(order, found.record.issuedWith);
    const current = { facts: found.facts, issuedWith: found.record.issuedWith };
    const gracePeriodRatio = spec.certOptions?.secretRotationGracePeriodRatio || DEFAULT_RATIO;
    const next = authorityStep({
      order: trust,
      current,
      options: wanted,
      gracePeriodRatio,
      isAnswered: answer !== undefined,
      now: clock.now(),
    });
    const signed = next === "request" && isExternal(order) ? await signedOutside(order, { trust, keyRef }) : undefined;
    if (typeof signed === "string") return { state: "FAILED", error: signed, ...(await reportWith(found)), ...offered };
    if (next === "request" && signed === undefined) {
      return requested(order, { keyRef, ordered, report: () => reportWith(found) });
    }
    if (next === "keep") {
      await forgetPendingKey(cluster, keyRef, signal);
      requests.delete(resourceKeyOf(refOf(order)));
      const renewal = await multiRoot.renewalOf(found.record.generations, place, () => podsOf(place));
      if (renewal === "write") {
        const authority = { ...found.authority, rootCertificates: withOtherBytes(found.facts.rootCertificates) };
        await multiRoot.noteReplicas(place.namespace, () => podsOf(place));
        await install(ref, found, authority, found.record.issuedWith);
        multiRoot.written(place);
        log.info(
          { secret: `${ref.namespace}/${ref.name}` },
          "wrote the same root certificates with one line more or less: proxies renew their certificates",
        );
        loop.request();
        return { state: "ISSUED", ...(await reportWith(await findAuthority(cluster, ref, signal), "wait")), ...offered };
      }
      const base = { ...(await reportWith(found, renewal)), ...offered };
      if (offer.offered === undefined && offer.problem !== undefined) return { state: "FAILED", error: offer.problem, ...base };
      return { state: base.isInForce && trust.step === "KEEP" ? "FINISHED" : "ISSUED", ...base };
    }
    const issued = signed ?? (next === "installRequested" ? answer : undefined);
    const isSame = trust.rootCertificates === found.facts.rootCertificates;
    // Other bytes are the sign that all of it is read.
    const isMarked = isSame && (await multiRoot.isMarked(found.record.generations, () => podsOf(place)));
    const rootCertificates = isMarked ? withOtherBytes(trust.rootCertificates) : trust.rootCertificates;
    const authority = { ...(issued ?? found.authority), rootCertificates };
    await multiRoot.noteReplicas(place.namespace, () => podsOf(place));
    await install(ref, found, authority, issued === undefined ? found.record.issuedWith : wanted);
    log.info(
      { secret: `${ref.namespace}/${ref.name}`, step: trust.step ?? "" },
      issued !== undefined ? "installed a new CA of the mesh" : "installed the root certificates that the mesh trusts",
    );
    loop.request();
    const after = await findAuthority(cluster, ref, signal);
    return { state: "ISSUED", ...(await reportWith(after)), ...offered };
  }

  /** Throws AuthorityProblem where the Secret is not what the control plane has read: what is in force is unknown then, and nothing is changed. */
  async function confirmed(found: FoundAuthority, ref: SecretRef): Promise<FoundAuthority> {
    const { generations } = found.record;
    const handedOut = await rootsHandedOut(cluster, ref.namespace, signal);
    // A control plane that has not read what was installed last may be about to start for the first time.
    if (handedOut === undefined && generations.at(-1)?.since === undefined) return found;
    const roots = handedOut === undefined ? undefined : await fingerprints(handedOut).catch(() => []);
    if (roots === undefined || !isHandedOut(generations, roots)) throw unconfirmed(found, ref, roots !== undefined);
    return found;
  }

  /** With what has become certain since: that the control plane has read what was installed. */
  async function observed(
    found: FoundAuthority,
    ref: { readonly namespace: string },
    podsOf: () => Promise<MeshPods>,
  ): Promise<FoundAuthority> {
    const { secret, record, facts } = found;
    const last = record.generations.at(-1);
    if (secret === undefined || last === undefined) return found;
    const before = record.generations.at(-2);
    if (last.since !== undefined && before === undefined) return found;
    const note = async (generations: readonly NotedGeneration[]) => {
      await noteGenerations(cluster, secret, { ...record, generations }, signal);
      return findAuthority(cluster, { name: secret.metadata.name, namespace: ref.namespace }, signal);
    };
    const pods = await podsOf();
    if (last.since === undefined) {
      if (!(await hasRead(pods, { last, before, facts, ref }))) return found;
      const settled: NotedGeneration = { ...last, since: clock.now() + CLOCK_SKEW_MS, dated: "since" };
      // Which pods are younger can be said once the write has a time.
      return observed(await note([...record.generations.slice(0, -1), settled]), ref, podsOf);
    }
    const generations = generationsInUse(record.generations, pods.proxies, pods.left);
    return generations.length === record.generations.length ? found : note(generations);
  }

  /** Whether every replica of the control plane has read the last content of the Secret. Source: specification "trust on real Istio". */
  async function hasRead(
    pods: MeshPods,
    {
      last,
      before,
      facts,
      ref,
    }: { last: NotedGeneration; before: TrustGeneration | undefined; facts: FoundAuthority["facts"]; ref: { readonly namespace: string } },
  ): Promise<boolean> {
    const { controlPlane, proxies } = pods;
    if (controlPlane.length === 0 || !controlPlane.every(({ isReady }) => isReady)) return false;
    const namespaces = new Set([ref.namespace, ...proxies.map(({ namespace: one }) => one)]);
    if (!(await haveRootsArrived(cluster, { namespaces, rootCertificates: facts.rootCertificates }, signal))) return false;
    if (outdatedPods(controlPlane, last).length === 0) return true;
    const takenOver = multiRoot.takenOverBy(pods, { last, before, namespace: ref.namespace });
    if (takenOver === "all") return true;
    if (takenOver === "never" && !reloads(controlPlane, { last, before })) return false;
    // An agent that was offline for days need not wait again: by so much no clock is wrong.
    const isOld = clock.now() > last.installedAt + GREATEST_SKEW_MS;
    return lookedFor(`Secret ${ref.namespace}`, String(last.installedAt)) > MOUNT_DELAY_MS || isOld;
  }

  async function install(
    ref: { readonly name: string; readonly namespace: string },
    found: FoundAuthority,
    authority: InstalledAuthority,
    issuedWith: string | undefined,
  ): Promise<void> {
    const { roots, signer } = await authorityFacts(authority);
    if (found.record.generations.length >= MOST_GENERATIONS) {
      throw new AuthorityProblem(
        `Secret ${ref.namespace}/${ref.name} was changed ${MOST_GENERATIONS} times and istiod has not read it: restart istiod and the workloads of the mesh`,
      );
    }
    const hasOtherBytes = found.secret !== undefined && authority.rootCertificates !== found.facts.rootCertificates;
    const installed: NotedGeneration = {
      ...{ roots, signer, installedAt: clock.now(), dated: "installedAt" },
      ...(hasOtherBytes ? { hasOtherBytes } : {}),
    };
    const generations = [...found.record.generations, installed];
    const record = { generations, ...(issuedWith === undefined ? {} : { issuedWith }) };
    await installAuthority(cluster, ref, { before: found.secret, authority, record }, signal);
  }

  /** The CA that was signed for the key of the request, with its chain; undefined before there is one. */
  async function answerTo(
    order: Order,
    {
      trust,
      keyRef,
      ordered,
    }: { readonly trust: RootOrder; readonly keyRef: { name: string; namespace: string }; readonly ordered: ReadonlyMap<string, Resource> },
  ): Promise<InstalledAuthority | undefined> {
    const { signedCertificate, signingRootCa } = answerIn(order, ordered)?.status ?? {};
    if (signedCertificate === undefined || signingRootCa === undefined) return undefined;
    const key = await pendingKey(cluster, keyRef, undefined, signal);
    // The answer for a key of another size than is ordered by now is of no use.
    if (key === undefined || (await meshKeyBits(key)) !== keyBitsOf(order)) return undefined;
    const [certificate, root] = [decodedText(signedCertificate), decodedText(signingRootCa)];
    const request = await requestWith(order, key);
    const problem = await answerProblem({ certificate, root }, { request, key, signer: trust.signer, now: clock.now() });
    if (problem === undefined)
      return { certificate, key, chain: withNewline(certificate) + root, rootCertificates: trust.rootCertificates };
    log.debug({ order: order.metadata.name }, `the answer of the management server is left aside: ${problem}`);
    return undefined;
  }

  async function requested(
    order: Order,
    {
      keyRef,
      ordered,
      report,
    }: {
      keyRef: { name: string; namespace: string };
      ordered: ReadonlyMap<string, Resource>;
      report: () => Promise<Omit<MeshReport, "state">>;
    },
  ): Promise<MeshReport> {
    const key = await pendingKey(cluster, keyRef, keyBitsOf(order), signal);
    const base = await report();
    if (key === undefined) return { state: "PENDING", ...base };
    const answer = answerIn(order, ordered);
    const request = await requestWith(order, key);
    const error = answer?.status?.state === "FAILED" ? answer.status.error : earlyAnswer(answer, clock.now());
    return error !== undefined ? { state: "FAILED", error, request, ...base } : { state: "REQUESTED", request, ...base };
  }

  /** The CA that an authority outside signs for the key that waits, or why it does not; undefined: another hand has just made the key. */
  async function signedOutside(
    order: Order,
    { trust, keyRef }: { readonly trust: RootOrder; readonly keyRef: { name: string; namespace: string } },
  ): Promise<InstalledAuthority | string | undefined> {
    const key = await pendingKey(cluster, keyRef, keyBitsOf(order), signal);
    if (key === undefined) return undefined;
    try {
      return await externals.sign(order, { request: await requestWith(order, key), key, trust }, signal);
    } catch (error) {
      if (!(error instanceof AuthorityProblem)) throw error;
      return error.message;
    }
  }

  async function requestWith(order: Order, key: string): Promise<string> {
    const orderKey = resourceKeyOf(refOf(order));
    const { hosts = [], certOptions, org } = order.spec ?? {};
    const subject: RequestSubject = { commonName: order.metadata.name, organization: certOptions?.orgName || org || "Istio", uris: hosts };
    const known = requests.get(orderKey);
    // While a request waits, the trust domain of the mesh may become another one.
    if (known?.key === key && equalJson(known.subject, subject)) return known.request;
    const request = await createMeshRequest(key, subject);
    requests.set(orderKey, { key, subject, request });
    return request;
  }

  /** What is installed and in force. What is ordered may be installed at any moment: it counts as if it were. */
  async function trustReport(
    { facts, record }: FoundAuthority,
    { trust, place, renewal, podsOf }: ReportContext,
  ): Promise<Omit<MeshReport, "state"> & { readonly isInForce: boolean }> {
    const { generations } = record;
    const ordered = trust === undefined ? [] : await orderedGeneration(trust);
    const isInForce = generations.length === 1 && generations[0]?.since !== undefined;
    const last = generations.at(-1);
    const pods = isInForce ? NO_PODS : await podsOf();
    const { proxies, controlPlane, left = [] } = pods;
    const outdated = podsToRestart(generations, proxies);
    const isRenewing = renewal === "write" || renewal === "wait";
    const unread = unreadBy(controlPlane, generations, trust?.step);
    return {
      isInForce,
      facts,
      inForce: trustInForce([...generations, ...ordered], proxies),
      restart: isRenewing ? [] : outdated,
      unread: multiRoot.isBeingRead(pods, generations, place) ? [] : unread,
      left: [...new Set(podsToRestart(generations, left).map(workloadOf))].sort(),
      ...(isRenewing ? { restarting: renewingText(outdated.length) } : {}),
      ...(await multiRoot.isMultiRootIn(place)),
      ...(last === undefined ? {} : { restartsCountFrom: last.since ?? last.installedAt + CLOCK_SKEW_MS }),
    };
  }

  const loop = coalesced(run, { clock, pauseMs: PAUSE_MS, restMs: REST_MS }, signal);
  async function tick(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(isSettled ? SETTLED_MS : isRestarting ? RESTARTING_MS : WAITING_MS, signal).catch(() => undefined);
      loop.request();
    }
  }
  loop.request();
  return { changed: loop.request, ended: Promise.all([loop.ended, tick()]).then(() => undefined) };
}

/** What a report is made of, beside the CA that is found. */
interface ReportContext {
  readonly trust: RootOrder | undefined;
  readonly place: ControlPlanes;
  readonly renewal: Renewal | undefined;
  readonly podsOf: () => Promise<MeshPods>;
}

function isExternal({ spec }: Order): boolean {
  return spec?.agentCa !== undefined;
}

/** A root that was read before counts on, with why it was not read again. */
function offeredIn({ offered, problem }: ExternalOffer): Pick<MeshReport, "offered"> {
  return offered === undefined ? {} : { offered: { ...offered, ...(problem === undefined ? {} : { problem }) } };
}

function withNewline(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

const NO_PODS: MeshPods = { proxies: [], controlPlane: [], nodeProxies: [], isMultiRoot: false };
const PAUSE_MS = 20;
const REST_MS = 500;
// A kubelet brings a Secret into a pod that runs after 60 to 90 s.
const MOUNT_DELAY_MS = 180_000;
const GREATEST_SKEW_MS = 86_400_000;
const WAITING_MS = 5_000;
// Between two pods: their list is read each time.
const RESTARTING_MS = 2_000;
const SETTLED_MS = 60_000;
const MOST_GENERATIONS = 8;
const DEFAULT_RATIO = 0.1;
function keyBitsOf({ spec }: Order): number {
  return spec?.certOptions?.rsaKeySizeBytes || DEFAULT_KEY_BITS;
}

const DEFAULT_KEY_BITS = 4096;
