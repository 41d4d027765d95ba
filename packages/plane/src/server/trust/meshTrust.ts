import { CertificateRequest, IssuedCertificate, Secret } from "@isthmus/api";
import { fingerprints, InvalidPem, issueIntermediate } from "@isthmus/certificates";
import {
  type Clock,
  equalJson,
  formatRef,
  type Kind,
  type Log,
  messageOf,
  type ObjectRef,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
} from "@isthmus/core";
import type { Cluster, Leadership } from "@isthmus/ports";
import type { Translation } from "@isthmus/translators";
import { decodedText, encodedText } from "../../identity/secretData.ts";
import type { Informer } from "../../informer/informer.ts";
import { coalesced } from "../../runtime/coalesce.ts";
import type { SnapshotStore } from "../../snapshots/snapshotStore.ts";
import type { DeliveryLog } from "../delivery.ts";
import type { RequestSender } from "../requestSender.ts";
import { generatedRoots, type MeshTrustRequest, trustRequests } from "./trustRequests.ts";
import { type KnownRoot, RootProblem, trustRoots } from "./trustRoots.ts";

/**
 * Brings the meshes of each VirtualMesh below one root: makes generated roots, tells each agent its next step, and signs what agents
 * request. What is to be done follows from what is there; only answers that agents have not taken yet are kept, in memory.
 */
export interface MeshTrustLoop {
  /** Something that orders follow from may have changed. */
  request(): void;
  forget(clusterName: string): void;
  /** What is known of the root in a Secret, on the leader. */
  rootIn(ref: ObjectRef): KnownRoot | undefined;
  /** Why the leader gives a mesh no CA, by its IssuedCertificate: an agent need not report what it was refused. */
  refusalOf(ref: ResourceRef): string | undefined;
  readonly ended: Promise<void>;
}

export interface MeshTrustOptions {
  readonly cluster: Cluster;
  readonly view: Informer;
  readonly store: SnapshotStore;
  readonly requests: RequestSender;
  readonly delivery: Pick<DeliveryLog, "setDesired" | "acknowledged">;
  /** Called when other outputs in the management cluster are there, when others are refused, and from time to time, as certificates expire. */
  readonly delivered: () => void;
  readonly leadership: Leadership;
  readonly translation: () => Translation | undefined;
  /** Of the management plane. */
  readonly namespace: string;
  /** Name of this server process. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The kinds of what is sent to agents. */
export const REQUESTED_KINDS: readonly Kind[] = [IssuedCertificate, CertificateRequest];

interface Answer {
  /** The request, and what it was signed by. */
  readonly basis: string;
  readonly resource: Resource;
  /** When it was made, in milliseconds since 1970. */
  readonly at: number;
}

/**
 * Runs after each `request` and every 30 s until `signal` is aborted, and does nothing on a replica that does not lead. A request that
 * cannot be signed is answered with the cause, or tried again.
 */
export function startMeshTrust(options: MeshTrustOptions, signal: AbortSignal): MeshTrustLoop {
  const { cluster, view, store, requests: sender, delivery, leadership, translation, namespace, instance, clock, log } = options;
  const roots = trustRoots({ cluster, clock, log, changed: () => loop.request() }, signal);
  let ordered: ReadonlyMap<string, MeshTrustRequest> = new Map();
  const answers = new Map<string, Answer>();
  let orders = 0;
  /** The last set of roots that is known to be there. */
  let kept: ReturnType<Translation["networking"]["inCluster"]> | undefined;

  function connectionOf(clusterName: string): string | undefined {
    const state = store.clusters.get(clusterName);
    if (state?.phase !== "synced" || !state.connected || state.agent === undefined) return undefined;
    return `${instance}/${state.agent.instance}`;
  }

  async function run(): Promise<void> {
    const now = translation();
    // Another replica orders, makes and signs while it leads.
    if (now === undefined || !view.isComplete || !leadership.isLeader) return;
    const management = view.snapshot;
    await generateRoots(now);
    tellKept(now);
    const nextNumber = () => ++orders;
    const next = trustRequests(now, {
      namespace,
      snapshotIn: store.snapshotIn,
      connectionOf,
      management,
      rootIn: roots.of,
      ordered,
      nextNumber,
    });
    ordered = next;
    tellAll();
    await sign(next);
    tellAll();
  }

  /** Nobody else answers for the roots: no agent writes them. */
  function tellKept({ networking }: Translation): void {
    const wanted = networking.inCluster("");
    const secrets = view.snapshot.of(Secret);
    if (kept !== undefined && wanted.changesSince(kept).length === 0) return;
    for (const [, { resource }] of wanted.entries()) if (secrets.get(refOf(resource)) === undefined) return;
    kept = wanted;
    delivery.setDesired("", wanted);
    delivery.acknowledged("", { revision: 0, rejected: [] }, wanted);
    options.delivered();
  }

  /** To each agent all that is ordered of it, with the answers that it has not taken yet. */
  function tellAll(): void {
    // In each cluster, as an earlier leader may have ordered something there.
    const byCluster = new Map<string, Resource[]>([...store.clusters.keys()].map((name) => [name, []]));
    const told = [...ordered.values()].filter(({ isRootUnread }) => !isRootUnread);
    for (const resource of [...told.map(resourceOf), ...[...answers.values()].map((answer) => answer.resource)]) {
      const { clusterName = "" } = resource.metadata;
      byCluster.set(clusterName, [...(byCluster.get(clusterName) ?? []), resource]);
    }
    for (const [clusterName, resources] of byCluster) sender.set(clusterName, resources);
  }

  async function generateRoots(now: Translation): Promise<void> {
    for (const { ref, virtualMesh } of generatedRoots(now)) {
      const exists = view.snapshot.of(Secret).get({ ...ref, clusterName: "" }) !== undefined;
      if (!exists) await roots.generate(ref, virtualMesh, signal);
    }
  }

  async function sign(orders: ReadonlyMap<string, MeshTrustRequest>): Promise<void> {
    const requested = new Set<string>();
    const refusedBefore = refusals();
    for (const order of orders.values()) {
      const request = store.snapshotIn(order.ref.clusterName).of(CertificateRequest).get(order.ref);
      const csr = request?.spec?.certificateSigningRequest;
      // An authority outside signs what its agent requests there.
      if (request === undefined || csr === undefined || order.spec.agentCa !== undefined) continue;
      const ref = refOf(request);
      const key = resourceKeyOf(ref);
      requested.add(key);
      const basis = JSON.stringify([csr, order.spec.trust?.signer, order.spec.certOptions, order.spec.hosts]);
      const known = answers.get(key);
      if (known?.basis === basis && !isFailed(known.resource) && !isAged(known, order)) continue;
      const status = await answerTo(order, csr);
      if (status === undefined || !leadership.isLeader || signal.aborted) continue;
      const { apiVersion, kind } = request;
      const answer: Answer = { basis, resource: { apiVersion, kind, metadata: metadataOf(ref), status } as Resource, at: clock.now() };
      if (equalJson(known?.resource, answer.resource)) continue;
      answers.set(key, answer);
    }
    for (const key of answers.keys()) if (!requested.has(key)) answers.delete(key);
    if (!equalJson(refusedBefore, refusals())) options.delivered();
  }

  /** An agent that was not there for long would find a CA that has expired, or soon does. */
  function isAged({ at }: Answer, { spec }: MeshTrustRequest): boolean {
    return Math.abs(clock.now() - at) > lifetimeMsOf(spec) * MOST_AGED;
  }

  /** Those of requests. */
  function refusals(): readonly string[] {
    return [...answers].flatMap(([key, { resource }]) => (isFailed(resource) ? [`${key} ${errorOf(resource) ?? ""}`] : []));
  }

  function refusalOf(ref: ResourceRef): string | undefined {
    if (!leadership.isLeader) return undefined;
    const { apiVersion, kind } = CertificateRequest;
    const answer = answers.get(resourceKeyOf({ ...ref, apiVersion, kind }));
    return (answer === undefined ? undefined : errorOf(answer.resource)) ?? ordered.get(resourceKeyOf(ref))?.spec.trust?.problem;
  }

  async function answerTo({ ref, spec, signWith }: MeshTrustRequest, csr: string): Promise<object | undefined> {
    try {
      const root = await roots.signing(signWith, signal);
      const { step, signer } = spec.trust ?? {};
      // It was replaced after it was looked at: another CA than is ordered would be of no use.
      if (step === "TRUST_BOTH" && !(await fingerprints(root.certificate)).includes(signer ?? "")) return undefined;
      const { orgName } = spec.certOptions ?? {};
      const names = { commonName: ref.name, organization: orgName || spec.org || "Istio", uris: spec.hosts ?? [] };
      const certificate = await issueIntermediate(root, decodedText(csr), {
        ...names,
        now: clock.now(),
        lifetimeMs: lifetimeMsOf(spec),
      });
      log.info({ cluster: ref.clusterName, mesh: ref.name }, "signed the CA of a mesh");
      return { state: "FINISHED", signedCertificate: encodedText(certificate), signingRootCa: encodedText(root.certificate) };
    } catch (error) {
      if (error instanceof RootProblem || error instanceof InvalidPem) return { state: "FAILED", error: error.message };
      if (!signal.aborted) log.warn({ cluster: ref.clusterName }, `cannot sign the CA of ${formatRef(ref)}: ${messageOf(error)}; retrying`);
      return undefined;
    }
  }

  const loop = coalesced(run, { clock, pauseMs: PAUSE_MS, restMs: REST_MS }, signal);
  async function tick(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(CHECK_MS, signal).catch(() => undefined);
      loop.request();
      options.delivered();
    }
  }
  return {
    rootIn: (ref) => (leadership.isLeader ? roots.known(ref) : undefined),
    refusalOf,
    request: loop.request,
    forget(clusterName) {
      ordered = new Map([...ordered].filter(([, { ref }]) => ref.clusterName !== clusterName));
      for (const [key, { resource }] of answers) if (resource.metadata.clusterName === clusterName) answers.delete(key);
    },
    ended: Promise.all([loop.ended, tick()]).then(() => undefined),
  };
}

function resourceOf({ ref, spec }: MeshTrustRequest): Resource {
  return { apiVersion: IssuedCertificate.apiVersion, kind: IssuedCertificate.kind, metadata: metadataOf(ref), spec } as Resource;
}

function metadataOf({ name, namespace, clusterName }: ResourceRef) {
  return { name, namespace, clusterName };
}

function lifetimeMsOf({ certOptions }: MeshTrustRequest["spec"]): number {
  return (certOptions?.ttlDays || 365) * DAY_MS;
}

function isFailed(resource: Resource): boolean {
  return (resource as CertificateRequest).status?.state === "FAILED";
}

function errorOf(resource: Resource): string | undefined {
  return (resource as CertificateRequest).status?.error;
}

const PAUSE_MS = 20;
const REST_MS = 200;
// A certificate expires, and what failed is tried again, while nothing changes.
const CHECK_MS = 30_000;
const DAY_MS = 86_400_000;
// Of its lifetime, before an agent takes a CA: then another one is signed.
const MOST_AGED = 0.05;
