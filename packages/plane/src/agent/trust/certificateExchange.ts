import { CertificateRequest, IssuedCertificate } from "@isthmus/api";
import {
  type Clock,
  equalJson,
  kindKeyOf,
  type Log,
  messageOf,
  type Owner,
  type Resource,
  refOf,
  resourceKeyOf,
  sha256Hex,
} from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { alreadyApplied, bearsLabelOf, FIELD_MANAGER } from "../../apply/ownership.ts";
import { type Informer, startInformer } from "../../informer/informer.ts";
import { coalesced } from "../../runtime/coalesce.ts";
import type { InternalResources } from "../internalResources.ts";
import { agentPresence } from "./agentPresence.ts";
import { bareObject, problemLog, REQUEST } from "./certificateObjects.ts";

/**
 * The server's end of certificates in a cluster that it connects to itself: reads there what the agent for certificates requests and says,
 * and writes what was signed. It has no part in keys: they are the agent's.
 */
export interface CertificateExchange {
  /** Something in the cluster, or what is ordered, is another. */
  changed(): void;
  readonly ended: Promise<void>;
}

export interface CertificateExchangeOptions {
  /** Refuses what the mode of the cluster forbids. */
  readonly cluster: Cluster;
  /** Of the agent. What others write in other namespaces is nobody's request. */
  readonly namespace: string;
  /** Name of the Lease that the agent renews there. */
  readonly lease: string;
  /** Whose objects are orders of ours. */
  readonly owners: readonly Owner[];
  /** The cluster, with its IssuedCertificates. */
  readonly view: () => Informer;
  /** What is desired of an object now, by `resourceKeyOf`. */
  readonly desiredOf: (key: string) => Resource | undefined;
  readonly internal: () => InternalResources | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** Runs after each `changed`, after changes of CertificateRequests, and every 5 s, until `signal` is aborted. What fails is tried again. */
export function startCertificateExchange(options: CertificateExchangeOptions, signal: AbortSignal): CertificateExchange {
  const { cluster, namespace, lease, owners, view, desiredOf, internal, clock, random, log } = options;
  // Apart from all else that is read: that it cannot be read holds up certificates alone.
  const requests = startInformer(
    { cluster, kinds: [CertificateRequest], namespaceOf: () => namespace, clock, random, log, changed: () => loop.request() },
    signal,
  );
  const presence = agentPresence({ cluster, lease: { name: lease, namespace }, clock, log }, signal);
  /** The last report of each order that was about the order as it stood, by `resourceKeyOf`. */
  const reported = new Map<string, { readonly resource: Resource; readonly by: string }>();
  /** Which request each answer is for: the one that had been reported when it came. */
  const answered = new Map<string, { readonly answer: Resource; readonly request: string }>();
  const tell = problemLog(log);

  async function run(): Promise<void> {
    const resources = internal();
    const ordered = resources?.ordered;
    const isKnown = (view().kinds.get(kindKeyOf(IssuedCertificate)) ?? "unknown") !== "unknown";
    if (resources === undefined || ordered === undefined || !isKnown || !requests.isComplete) return;
    // Of an agent that is gone nothing is known: what it said last may be old.
    const agent = await presence.look();
    const orders = agent !== undefined ? [...view().snapshot.of(IssuedCertificate)].filter(isOrder) : [];
    for (const key of reported.keys()) if (!orders.some((one) => resourceKeyOf(refOf(one)) === key)) reported.delete(key);
    const requested = orders.flatMap((order) => requestFor(order, agent) ?? []);
    noteAnswers(ordered);
    resources.report([...orders.flatMap((order) => reportOf(order, agent) ?? []), ...requested.map(withoutStatus)]);
    for (const request of requested) await write(request);
  }

  function isOrder(issued: IssuedCertificate): boolean {
    return issued.metadata.namespace === namespace && bearsLabelOf(issued, owners);
  }

  /**
   * What is said of an order counts for it as it was read: another order, or one that somebody has changed, is not answered by it, nor by what a
   * process of the agent said that is gone.
   */
  function reportOf(order: IssuedCertificate, agent: string | undefined): Resource | undefined {
    const key = resourceKeyOf(refOf(order));
    const desired = desiredOf(key);
    const { status, spec, metadata } = order;
    const isAsDesired = desired === undefined || alreadyApplied(order, desired);
    if (isAsDesired && status?.observedGeneration !== undefined && status.observedGeneration === metadata.generation) {
      const { observedGeneration: _, requestSha256: __, reportedBy: by = "", ...said } = status;
      reported.set(key, { resource: bareObject(order, { spec, status: said }), by });
    }
    const known = reported.get(key);
    return known === undefined || known.by === agent ? known?.resource : unanswered(known.resource);
  }

  /** Only one that the agent says is its own: who may write CertificateRequests alone has none signed. */
  function requestFor(order: IssuedCertificate, agent: string | undefined): CertificateRequest | undefined {
    const request = requests.snapshot.of(CertificateRequest).get({ ...refOf(order), ...REQUEST });
    const text = request?.spec?.certificateSigningRequest;
    const { requestSha256, reportedBy } = order.status ?? {};
    if (text === undefined || requestSha256 === undefined || reportedBy !== agent) return undefined;
    return sha256Hex(text) === requestSha256 ? request : undefined;
  }

  function noteAnswers(ordered: ReadonlyMap<string, Resource>): void {
    for (const key of answered.keys()) if (!ordered.has(key)) answered.delete(key);
    for (const [key, answer] of ordered) {
      if (kindKeyOf(answer) !== kindKeyOf(REQUEST) || equalJson(answered.get(key)?.answer, answer)) continue;
      answered.set(key, { answer, request: lastRequests.get(key) ?? "" });
    }
  }

  /** The requests that were reported last, by `resourceKeyOf`. */
  const lastRequests = new Map<string, string>();

  async function write(request: CertificateRequest): Promise<void> {
    const key = resourceKeyOf(refOf(request));
    const text = request.spec?.certificateSigningRequest ?? "";
    lastRequests.set(key, text);
    const known = answered.get(key);
    if (known === undefined || known.request !== text) return;
    const { metadata } = request;
    const status = { ...(known.answer as CertificateRequest).status, observedGeneration: metadata.generation };
    if (equalJson(request.status, status)) return;
    const { name, resourceVersion } = metadata;
    const version = resourceVersion === undefined ? {} : { resourceVersion };
    try {
      await cluster.applyStatus(
        { ...REQUEST, metadata: { name, namespace, ...version }, status } as never,
        { fieldManager: FIELD_MANAGER, force: true },
        signal,
      );
      tell(request, undefined);
    } catch (error) {
      if (signal.aborted || !(error instanceof ClusterError)) throw error;
      // It has changed: the watch tells.
      if (error.code === "Conflict" || error.code === "NotFound") return;
      tell(request, `cannot write its status: ${messageOf(error)}; retrying`);
    }
  }

  const loop = coalesced(run, { clock, pauseMs: PAUSE_MS, restMs: REST_MS }, signal);
  async function tick(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      loop.request();
    }
  }
  loop.request();
  return { changed: loop.request, ended: Promise.all([loop.ended, tick(), requests.ended]).then(() => undefined) };
}

/** As a report on an order of an earlier connection. */
function unanswered(report: IssuedCertificate): Resource {
  const { term: _, ...trust } = report.spec?.trust ?? {};
  return { ...report, spec: { ...report.spec, trust } } as Resource;
}

function withoutStatus(request: CertificateRequest): Resource {
  return bareObject(request, { spec: { certificateSigningRequest: request.spec?.certificateSigningRequest } });
}

const PAUSE_MS = 20;
const REST_MS = 200;
const RETRY_MS = 5_000;
