import { X509Certificate } from "node:crypto";
import { ConfigMap, Pod, Secret } from "@isthmus/api";
import { createMeshRoot } from "@isthmus/certificates";
import { type AnyResource, type Clock, messageOf } from "@isthmus/core";
import { secretOf, secretTexts } from "@isthmus/plane";
import type { SimulatedCluster } from "@isthmus/simulator";
import type { Logger } from "pino";
import { certificatesIn, sameCertificates } from "./pem.ts";

/** What a proxy has from its control plane. */
export interface ProxyCertificate {
  /** The roots that it trusts, PEM. */
  readonly roots: readonly string[];
  /** The root that its own certificate is below, PEM. */
  readonly signer: string;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** Does in a simulated cluster what istiod does with certificates, and no more. */
export interface SimulatedIstiod {
  /** What the proxy of a pod has, by the address of the pod; undefined: none is there. */
  certificateAt(address: string): ProxyCertificate | undefined;
  /** Of all proxies. */
  certificates(): Iterable<ProxyCertificate>;
  readonly ended: Promise<void>;
}

/**
 * Reads Secret `cacerts` when a pod of istiod starts, and again when it is changed to more or fewer of the roots that it has, as one with
 * ISTIO_MULTIROOT_MESH does; without the Secret, a CA of its own. It hands out its roots in ConfigMaps `istio-ca-root-cert`, and certificates to proxies,
 * which ask for another one when the text of the roots is another one. Source: specification "trust on real Istio". Runs until `signal` is aborted.
 */
export function startIstiod(
  cluster: SimulatedCluster,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): SimulatedIstiod {
  /** By uid of the pod. */
  const given = new Map<string, ProxyCertificate & { readonly text: string }>();
  let uids: ReadonlyMap<string, string> = new Map();
  let running = "";
  let read: Authority | undefined;
  let seen = -1;

  async function step(): Promise<void> {
    const pods = cluster.objects().filter(({ kind }) => kind === Pod.kind) as readonly PodObject[];
    const istiod = pods.find(isIstiod);
    if (istiod === undefined) return;
    const written = authorityIn(cluster.object({ ...SECRET, name: "cacerts", namespace: NAMESPACE }));
    if (istiod.metadata.uid !== running) {
      read = written ?? (await ownAuthority(cluster, clock));
      running = istiod.metadata.uid ?? "";
    } else if (read !== undefined && written !== undefined && isReloaded(read, written)) read = written;
    if (read === undefined) return;
    await handOut(new Set([NAMESPACE, ...pods.map(({ metadata }) => metadata.namespace ?? "")]), read.roots);
    const proxies = pods.filter((pod) => !isIstiod(pod) && hasProxy(pod));
    for (const { metadata } of proxies) give(metadata.uid ?? "", read);
    const present = new Set(proxies.map(({ metadata }) => metadata.uid ?? ""));
    for (const uid of given.keys()) if (!present.has(uid)) given.delete(uid);
    uids = new Map(proxies.map(({ metadata, status }) => [status?.podIP ?? "", metadata.uid ?? ""]));
  }

  function give(uid: string, { roots, signer }: Authority): void {
    const known = given.get(uid);
    const now = clock.now();
    if (known?.text === roots && known.endsAt - now > LIFETIME_MS / 2) return;
    given.set(uid, { roots: certificatesIn(roots), signer, text: roots, endsAt: now + LIFETIME_MS });
  }

  async function handOut(namespaces: ReadonlySet<string>, roots: string): Promise<void> {
    for (const namespace of namespaces) {
      const ref = { name: "istio-ca-root-cert", namespace };
      const found = await cluster.get(ConfigMap, ref);
      if (found?.data?.["root-cert.pem"] === roots) continue;
      const next = { ...CONFIG_MAP, metadata: found?.metadata ?? ref, data: { "root-cert.pem": roots } } as ConfigMap;
      await (found === undefined ? cluster.create(next) : cluster.update(next));
    }
  }

  /** A write of somebody else in between, or a Secret that holds no certificate: it is tried again, as istiod does. */
  function failed(error: unknown): void {
    if (!signal.aborted) log.warn({ cluster: cluster.name }, `the simulated istiod cannot continue: ${messageOf(error)}`);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const { revision } = cluster;
      if (revision !== seen) await step().then(() => (seen = revision), failed);
      await clock.sleep(STEP_MS, signal).catch(ignore);
    }
  }

  return { certificateAt: (address) => given.get(uids.get(address) ?? ""), certificates: () => given.values(), ended: run() };
}

/** What a control plane signs with, and hands out. */
interface Authority {
  readonly certificate: string;
  /** The text of all of them, PEM. */
  readonly roots: string;
  readonly signer: string;
}

function authorityIn(secret: AnyResource | undefined): Authority | undefined {
  if (secret === undefined) return undefined;
  const { "ca-cert.pem": certificate, "root-cert.pem": roots, "cert-chain.pem": chain = "" } = secretTexts(secret as AnyResource & Secret);
  if (certificate === undefined || roots === undefined) return undefined;
  const own = new X509Certificate(certificate);
  const candidates = [...certificatesIn(roots), ...certificatesIn(chain)];
  return { certificate, roots, signer: candidates.find((one) => own.checkIssued(new X509Certificate(one))) ?? certificate };
}

/** A CA of its own, made once. */
async function ownAuthority(cluster: SimulatedCluster, clock: Clock): Promise<Authority> {
  const ref = { name: "istio-ca-secret", namespace: NAMESPACE };
  const known = cluster.object({ ...SECRET, ...ref });
  const texts = known === undefined ? await newTexts(cluster.name, clock) : secretTexts(known as AnyResource & Secret);
  if (known === undefined) await cluster.create(secretOf(ref, texts));
  const certificate = texts["ca-cert.pem"] ?? "";
  return { certificate, roots: certificate, signer: certificate };
}

async function newTexts(name: string, clock: Clock): Promise<Readonly<Record<string, string>>> {
  const options = { commonName: `istiod of ${name}`, organization: `${name}.example`, lifetimeMs: 3_650 * DAY_MS, now: clock.now() };
  const { certificate, key } = await createMeshRoot(options, "P-256");
  return { "ca-cert.pem": certificate, "ca-key.pem": key };
}

/** Whether a control plane that runs takes over what was written: more roots than it has, or fewer. */
function isReloaded(read: Authority, written: Authority): boolean {
  if (read.roots === written.roots && read.certificate === written.certificate) return false;
  const [before, after] = [certificatesIn(read.roots), certificatesIn(written.roots)];
  const contains = (all: readonly string[], some: readonly string[]) =>
    some.every((one) => all.some((other) => sameCertificates(one, other)));
  return contains(before, after) || contains(after, before);
}

type PodObject = AnyResource & {
  readonly spec?: { readonly containers?: readonly { readonly name?: string }[] };
  readonly status?: { readonly podIP?: string; readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] };
};

function isIstiod({ metadata, status }: PodObject): boolean {
  const isReady = (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True");
  return metadata.namespace === NAMESPACE && metadata.labels?.["istio"] === "pilot" && isReady && metadata.deletionTimestamp === undefined;
}

function hasProxy({ spec }: PodObject): boolean {
  return (spec?.containers ?? []).some(({ name }) => name === "istio-proxy");
}

function ignore(): undefined {
  return undefined;
}

const NAMESPACE = "istio-system";
const SECRET = { apiVersion: Secret.apiVersion, kind: Secret.kind };
const CONFIG_MAP = { apiVersion: ConfigMap.apiVersion, kind: ConfigMap.kind };
const DAY_MS = 86_400_000;
// Of a workload's certificate, as istiod signs them.
const LIFETIME_MS = DAY_MS;
const STEP_MS = 250;
