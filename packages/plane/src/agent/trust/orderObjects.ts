import { CertificateRequest, IssuedCertificate } from "@isthmus/api";
import {
  type AnyResource,
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
import { bearsLabelOf, FIELD_MANAGER } from "../../apply/ownership.ts";
import { type Informer, startInformer } from "../../informer/informer.ts";
import { coalesced } from "../../runtime/coalesce.ts";
import type { InternalResources } from "../internalResources.ts";
import { rulesOfOrders } from "../modeMarks.ts";
import type { WriteRules } from "../writeMode.ts";
import { bareObject, problemLog, REQUEST } from "./certificateObjects.ts";

/**
 * Orders of CAs as objects of the agent's own namespace, for an agent without a server: reads IssuedCertificates, writes what came of them into
 * their status, and what is to be signed as CertificateRequests.
 */
export interface OrderObjects extends Pick<InternalResources, "ordered" | "report"> {
  readonly view: Informer;
  readonly ended: Promise<void>;
}

export interface OrderObjectsOptions {
  readonly cluster: Cluster;
  /** The agent's: no other one is read. */
  readonly namespace: string;
  /** Whose objects are orders. */
  readonly owners: readonly Owner[];
  /** Which process of the agent this is, as its Lease names it. */
  readonly identity: string;
  /** Called when something else is ordered. */
  readonly changed: () => void;
  /** Called when other rules hold, before what is ordered by then is known. */
  readonly rulesChanged: (rules: WriteRules) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

interface Known {
  readonly resource: Resource;
  readonly generation: number | undefined;
}

/** Follows the objects until `signal` is aborted; `ordered` is undefined before all of them were read. Writes that fail are tried again after 5 s. */
export function orderObjects(options: OrderObjectsOptions, signal: AbortSignal): OrderObjects {
  const { cluster, namespace, owners, identity, changed, rulesChanged, clock, random, log } = options;
  const view = startInformer(
    {
      cluster,
      kinds: [IssuedCertificate, CertificateRequest],
      namespaceOf: () => namespace,
      // What cannot be understood is no order.
      keepsLastGood: () => false,
      clock,
      random,
      log,
      changed: () => reading.request(),
    },
    signal,
  );
  let known: ReadonlyMap<string, Known> = new Map();
  let ordered: ReadonlyMap<string, Resource> | undefined;
  let reports: readonly Resource[] | undefined;
  let rules: WriteRules | undefined;
  const tell = problemLog(log);

  async function read(): Promise<void> {
    if (!view.isComplete) return;
    const next = new Map<string, Known>();
    const orders = [...view.snapshot.of(IssuedCertificate)].filter((one) => bearsLabelOf(one, owners));
    // Before what is ordered: nothing of it is begun under other rules.
    const now = rulesOfOrders(orders);
    const isOther = !equalJson(rules, now);
    rules = now;
    if (isOther) rulesChanged(now);
    for (const issued of orders) {
      const key = resourceKeyOf(refOf(issued));
      const { generation } = issued.metadata;
      const before = known.get(key);
      // Read once for each form of it: that what the management server has written is what stands there.
      const isKnown = before !== undefined && before.generation === generation && equalJson(specOf(before.resource), issued.spec);
      if (!isKnown && !(await isOfServer(issued))) continue;
      next.set(key, { resource: bareObject(issued, { spec: issued.spec }), generation });
      const answer = answerFor(issued);
      if (answer !== undefined) next.set(resourceKeyOf(refOf(answer)), { resource: answer, generation: undefined });
    }
    const isSame = ordered !== undefined && equalJson([...known], [...next]);
    known = next;
    if (isSame) return writing.request();
    ordered = new Map([...next].map(([key, { resource }]) => [key, resource]));
    changed();
  }

  /** An answer to an earlier request is none. */
  function answerFor(issued: IssuedCertificate): Resource | undefined {
    const request = view.snapshot.of(CertificateRequest).get({ ...refOf(issued), ...REQUEST });
    const { status, metadata } = request ?? {};
    if (request === undefined || status === undefined || status.observedGeneration !== metadata?.generation) return undefined;
    const { observedGeneration: _, ...answer } = status;
    return bareObject(request, { status: answer });
  }

  /** Whether nobody else has written any field of its spec: what was edited by hand is no order, until the server has restored it. */
  async function isOfServer(issued: IssuedCertificate): Promise<boolean> {
    const { name } = issued.metadata;
    const found = await read1(() => cluster.get(IssuedCertificate, { name, namespace }, signal));
    if (found === undefined || !equalJson(found.spec, issued.spec)) return false;
    const others = (found.metadata.managedFields ?? []).filter(
      ({ manager, subresource, fieldsV1 }) => manager !== FIELD_MANAGER && subresource === undefined && hasSpec(fieldsV1),
    );
    if (others.length === 0) return true;
    const names = [...new Set(others.map(({ manager }) => String(manager)))].join(", ");
    tell(issued, `its spec was written by ${names}, and is not followed: the management server writes it; undo the change`);
    return false;
  }

  async function read1<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !(error instanceof ClusterError)) throw error;
      return undefined;
    }
  }

  async function write(): Promise<void> {
    if (reports === undefined) return;
    const requested = new Set<string>();
    const all = reports;
    for (const resource of all) {
      const key = resourceKeyOf(refOf(resource));
      if (kindKeyOf(resource) !== kindKeyOf(IssuedCertificate)) {
        requested.add(key);
        await writeRequest(resource as CertificateRequest);
        continue;
      }
      const own = all.find((one) => kindKeyOf(one) === kindKeyOf(CertificateRequest) && one.metadata.name === resource.metadata.name);
      const text = (own as CertificateRequest | undefined)?.spec?.certificateSigningRequest;
      await writeStatus(resource as IssuedCertificate, known.get(key), text === undefined ? {} : { requestSha256: sha256Hex(text) });
    }
    for (const request of view.snapshot.of(CertificateRequest)) await removeUnrequested(request, requested);
  }

  /** A report is about the order that it repeats: of a later one it says nothing. */
  async function writeStatus(report: IssuedCertificate, order: Known | undefined, request: object): Promise<void> {
    if (order?.generation === undefined || !equalJson(report.spec, specOf(order.resource))) return;
    const live = view.snapshot.of(IssuedCertificate).get(refOf(report));
    const status = { ...report.status, ...request, observedGeneration: order.generation, reportedBy: identity };
    if (live === undefined || equalJson(live.status, status)) return;
    const { name } = report.metadata;
    const body = { apiVersion: report.apiVersion, kind: report.kind, metadata: { name, namespace }, status } as AnyResource;
    await attempt(report, () => cluster.applyStatus(body, { fieldManager: FIELD_MANAGER, force: true }, signal));
  }

  /** What somebody else has put there in its place is overwritten: nobody requests CAs here but this agent. */
  async function writeRequest(request: CertificateRequest): Promise<void> {
    const live = view.snapshot.of(CertificateRequest).get(refOf(request));
    if (live !== undefined && equalJson(live.spec, request.spec) && bearsLabel(live)) return;
    const { name } = request.metadata;
    const body = { ...REQUEST, metadata: { name, namespace, labels: { [LABEL]: namespace } }, spec: request.spec } as AnyResource;
    await attempt(request, () => cluster.apply(body, { fieldManager: FIELD_MANAGER, force: true }, signal));
  }

  /** What was answered, or is not asked for any more. One whose order is not seen stays. */
  async function removeUnrequested(request: CertificateRequest, requested: ReadonlySet<string>): Promise<void> {
    const ref = refOf(request);
    const { apiVersion, kind } = IssuedCertificate;
    const order = known.get(resourceKeyOf({ ...ref, apiVersion, kind }));
    const isReported = reports?.some((one) => kindKeyOf(one) === kindKeyOf(IssuedCertificate) && one.metadata.name === ref.name);
    if (requested.has(resourceKeyOf(ref)) || order === undefined || isReported !== true || !bearsLabel(request)) return;
    const { uid, resourceVersion } = request.metadata;
    const seen = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    await attempt(request, () => cluster.delete(ref, seen, signal));
  }

  async function attempt(resource: Resource, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      tell(resource, undefined);
    } catch (error) {
      if (signal.aborted || !(error instanceof ClusterError)) throw error;
      if (error.code === "NotFound" || error.code === "Conflict") return;
      tell(resource, `cannot write it: ${messageOf(error)}; retrying`);
    }
  }

  const reading = coalesced(read, { clock, pauseMs: PAUSE_MS }, signal);
  const writing = coalesced(write, { clock, pauseMs: PAUSE_MS }, signal);
  async function tick(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      reading.request();
    }
  }
  return {
    view,
    get ordered() {
      return ordered;
    },
    report(resources) {
      reports = resources;
      writing.request();
    },
    ended: Promise.all([view.ended, reading.ended, writing.ended, tick()]).then(() => undefined),
  };
}

function hasSpec(fields: unknown): boolean {
  return typeof fields === "object" && fields !== null && "f:spec" in fields;
}

function specOf(resource: Resource): unknown {
  return (resource as AnyResource)["spec"];
}

function bearsLabel({ metadata }: Resource): boolean {
  return metadata.labels?.[LABEL] !== undefined;
}

/** Source: specification of the published product, "Labels on all agent outputs". */
const LABEL = "agent.certificates.mesh.gloo.solo.io";
const PAUSE_MS = 20;
const RETRY_MS = 5_000;
