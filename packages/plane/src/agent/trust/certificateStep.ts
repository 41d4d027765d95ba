import { type AuthorityFacts, authorityStep, type InstalledAuthority, podsToRestart, trustInForce } from "@isthmus/certificates";
import type { Clock, Log, Resource } from "@isthmus/core";
import { ambientProblem } from "../installProblems.ts";
import type { FoundAuthority, SecretRef } from "./authoritySecrets.ts";
import {
  changesRoots,
  controlPlanesOfOrder,
  type Order,
  optionsOf,
  orderedGeneration,
  type RootOrder,
  trustIn,
} from "./certificateOrders.ts";
import type { MeshReport } from "./certificateReports.ts";
import { CLOCK_SKEW_MS, unreadBy } from "./controlPlaneReads.ts";
import type { ExternalAuthorities, ExternalOffer } from "./externalAuthorities.ts";
import type { MeshAuthorities } from "./meshAuthorities.ts";
import type { ControlPlanes, MeshPods } from "./meshProxies.ts";
import { type MultiRoot, type Renewal, renewingText, withOtherBytes, withTextOf } from "./multiRoot.ts";
import { workloadOf } from "./podRestarts.ts";
import type { SigningRequests } from "./signingRequests.ts";

/** What runs of a mesh, read once in a round. */
export type PodsOf = (place: ControlPlanes) => Promise<MeshPods>;

/**
 * Takes the next step of an order, if there is one, and reports where its mesh is then. Throws AuthorityProblem, InvalidPem and ClusterError: nothing
 * was written then, or what was written is found in the next round.
 */
export type CertificateStep = (order: Order, ordered: ReadonlyMap<string, Resource>, podsOf: PodsOf) => Promise<MeshReport>;

export interface CertificateStepOptions {
  /** Where keys of requested CAs are kept. */
  readonly namespace: string;
  readonly authorities: MeshAuthorities;
  readonly requests: SigningRequests;
  readonly externals: ExternalAuthorities;
  readonly multiRoot: MultiRoot;
  /** Called after something was installed: another step may follow at once. */
  readonly installed: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** An order with what is installed of it, before a step. */
interface Situation {
  readonly order: Order;
  readonly ordered: ReadonlyMap<string, Resource>;
  /** The Secret of the control plane. */
  readonly ref: SecretRef;
  /** The Secret of the key that waits to be signed. */
  readonly keyRef: SecretRef;
  readonly place: ControlPlanes;
  readonly found: FoundAuthority;
  readonly offer: ExternalOffer;
  readonly podsOf: () => Promise<MeshPods>;
  /** What is installed and in force, with what an authority outside offers. */
  readonly reportOn: (known: FoundAuthority, renewal?: Renewal) => Promise<InForceReport>;
}

type InForceReport = Omit<MeshReport, "state"> & { readonly isInForce: boolean };

/** Knows no order. */
export function certificateStep(options: CertificateStepOptions, signal: AbortSignal): CertificateStep {
  const { namespace, authorities, requests, externals, multiRoot, installed, clock, log } = options;

  async function step(order: Order, ordered: ReadonlyMap<string, Resource>, podsOfPlace: PodsOf): Promise<MeshReport> {
    const { spec = {} } = order;
    const ref = { name: spec.issuedCertificateSecret?.name ?? "", namespace: spec.issuedCertificateSecret?.namespace ?? "" };
    if (ref.name === "" || ref.namespace === "") return { state: "PENDING" };
    const place = controlPlanesOfOrder(order);
    const podsOf = () => podsOfPlace(place);
    const found = await authorities.read(ref, podsOf);
    const trust = withTextOf(found.facts.rootCertificates, trustIn(order));
    const offer = isExternal(order) ? await externals.offer(order, signal) : {};
    const keyRef = { name: order.metadata.name, namespace };
    const reportOn: Situation["reportOn"] = async (known, renewal) => ({
      ...(await trustReport(known, { trust, place, renewal, multiRoot, podsOf })),
      ...offeredIn(offer),
    });
    const situation: Situation = { order, ordered, ref, keyRef, place, found, offer, podsOf, reportOn };
    if (trust === undefined) {
      const problem = spec.trust?.problem ?? offer.problem;
      const base = await reportOn(found);
      return problem === undefined ? { state: "PENDING", ...base } : { state: "FAILED", error: problem, ...base };
    }
    if (await changesRoots(trust, found.facts)) {
      const problem = ambientProblem(order, (await podsOf()).nodeProxies);
      if (problem !== undefined) return { state: "FAILED", error: problem, ...(await reportOn(found)) };
    }
    return next(situation, trust);
  }

  async function next(situation: Situation, trust: RootOrder): Promise<MeshReport> {
    const { order, ordered, keyRef, found, reportOn } = situation;
    const answer = await requests.answerTo(order, { trust, keyRef, ordered });
    const what = authorityStep({
      order: trust,
      current: { facts: found.facts, issuedWith: found.record.issuedWith },
      options: optionsOf(order, found.record.issuedWith),
      gracePeriodRatio: order.spec?.certOptions?.secretRotationGracePeriodRatio || DEFAULT_RATIO,
      isAnswered: answer !== undefined,
      now: clock.now(),
    });
    const signed = what === "request" && isExternal(order) ? await requests.signedOutside(order, { trust, keyRef }) : undefined;
    if (typeof signed === "string") return { state: "FAILED", error: signed, ...(await reportOn(found)) };
    if (what === "request" && signed === undefined) {
      return requests.requested(order, { keyRef, ordered, report: () => trustOnly(situation, trust) });
    }
    if (what === "keep") return keep(situation, trust);
    return install(situation, trust, signed ?? (what === "installRequested" ? answer : undefined));
  }

  /** A request is reported without what an authority outside offers: it is the management server that signs. */
  function trustOnly({ found, place, podsOf }: Situation, trust: RootOrder): Promise<InForceReport> {
    return trustReport(found, { trust, place, renewal: undefined, multiRoot, podsOf });
  }

  /** Nothing is to be installed: proxies may have to renew their certificates. */
  async function keep(situation: Situation, trust: RootOrder): Promise<MeshReport> {
    const { order, ref, keyRef, place, found, offer, podsOf, reportOn } = situation;
    await requests.forget(order, keyRef);
    const renewal = await multiRoot.renewalOf(found.record.generations, place, podsOf);
    if (renewal === "write") {
      const authority = { ...found.authority, rootCertificates: withOtherBytes(found.facts.rootCertificates) };
      await written(situation, authority, found.record.issuedWith);
      multiRoot.written(place);
      const text = "wrote the same root certificates with one line more or less: proxies renew their certificates";
      log.info({ secret: `${ref.namespace}/${ref.name}` }, text);
      return after(situation, "wait");
    }
    const base = await reportOn(found, renewal);
    if (offer.offered === undefined && offer.problem !== undefined) return { state: "FAILED", error: offer.problem, ...base };
    return { state: base.isInForce && trust.step === "KEEP" ? "FINISHED" : "ISSUED", ...base };
  }

  /** Installs the roots that are ordered, with a CA that was signed or the one that is there. */
  async function install(situation: Situation, trust: RootOrder, issued: InstalledAuthority | undefined): Promise<MeshReport> {
    const { order, ref, found, podsOf } = situation;
    const isSame = trust.rootCertificates === found.facts.rootCertificates;
    // Other bytes are the sign that all of it is read.
    const isMarked = isSame && (await multiRoot.isMarked(found.record.generations, podsOf));
    const rootCertificates = isMarked ? withOtherBytes(trust.rootCertificates) : trust.rootCertificates;
    const { issuedWith } = found.record;
    await written(
      situation,
      { ...(issued ?? found.authority), rootCertificates },
      issued === undefined ? issuedWith : optionsOf(order, issuedWith),
    );
    const text = issued !== undefined ? "installed a new CA of the mesh" : "installed the root certificates that the mesh trusts";
    log.info({ secret: `${ref.namespace}/${ref.name}`, step: trust.step ?? "" }, text);
    return after(situation);
  }

  async function written(
    { ref, found, place, podsOf }: Situation,
    authority: InstalledAuthority,
    issuedWith: string | undefined,
  ): Promise<void> {
    await multiRoot.noteReplicas(place.namespace, podsOf);
    await authorities.install(ref, found, authority, issuedWith);
  }

  async function after({ ref, reportOn }: Situation, renewal?: Renewal): Promise<MeshReport> {
    installed();
    return { state: "ISSUED", ...(await reportOn(await authorities.find(ref), renewal)) };
  }

  return step;
}

/** What a report is made of, beside the CA that is found. */
interface ReportContext {
  readonly trust: RootOrder | undefined;
  readonly place: ControlPlanes;
  readonly renewal: Renewal | undefined;
  readonly multiRoot: MultiRoot;
  readonly podsOf: () => Promise<MeshPods>;
}

/** What is installed and in force. What is ordered may be installed at any moment: it counts as if it were. */
async function trustReport(
  { facts, record }: FoundAuthority,
  { trust, place, renewal, multiRoot, podsOf }: ReportContext,
): Promise<InForceReport & { readonly facts: AuthorityFacts }> {
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

function isExternal({ spec }: Order): boolean {
  return spec?.agentCa !== undefined;
}

/** A root that was read before counts on, with why it was not read again. */
function offeredIn({ offered, problem }: ExternalOffer): Pick<MeshReport, "offered"> {
  return offered === undefined ? {} : { offered: { ...offered, ...(problem === undefined ? {} : { problem }) } };
}

const NO_PODS: MeshPods = { proxies: [], controlPlane: [], nodeProxies: [], isMultiRoot: false };
const DEFAULT_RATIO = 0.1;
