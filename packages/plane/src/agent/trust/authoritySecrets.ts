import { Secret } from "@isthmus/api";
import {
  type AuthorityFacts,
  authorityFacts,
  authorityIn,
  authorityTexts,
  createMeshKey,
  type InstalledAuthority,
  meshKeyBits,
  type TrustGeneration,
} from "@isthmus/certificates";
import { equalJson, messageOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { secretOf, secretTexts } from "../../identity/secretData.ts";
import { type NotedGeneration, withWriteTimes } from "./trustTimes.ts";

// The Secrets of a mesh's CA, in the mesh's cluster. Nothing else reads or writes them, and what is private in them goes nowhere else.

/** On Secret `cacerts`: what this agent wrote, and when proxies had it. */
const RECORD = "isthmus.mesh/trust";
/** On a Secret `cacerts` of somebody else: by it a user says that this agent may replace it. */
const ADOPT = "isthmus.mesh/adopt";
/** Of a restart below another root. */
const COST = "until all of them have restarted, requests between those that have and the others fail";
/** Of a control plane that has made its own CA. Source: Istio, security/pkg/pki/ca. */
const OWN_CA = "istio-ca-secret";
/** In the agent's namespace: the keys of CAs that are requested and not installed yet, by name of the IssuedCertificate. */
const PENDING_KEYS = "mesh-certificate-keys";
/** Source: specification of the published product, "Final secret". */
const ISSUED_TYPE = "certificates.mesh.gloo.solo.io/issued_certificate";

/** What is kept of an installed CA beside it. */
export interface AuthorityRecord {
  /** Options that the management server issued it with; undefined: it was there before. */
  readonly issuedWith?: string;
  readonly generations: readonly TrustGeneration[];
}

/** A record that is to be written: its new generation is dated by that write. */
export interface NotedRecord extends Omit<AuthorityRecord, "generations"> {
  readonly generations: readonly NotedGeneration[];
}

/** The CA of a control plane as it is found. */
export interface FoundAuthority {
  readonly authority: InstalledAuthority;
  readonly facts: AuthorityFacts;
  readonly record: AuthorityRecord;
  /** Undefined when there is none yet: the control plane uses a CA of its own. */
  readonly secret: Secret | undefined;
}

export interface SecretRef {
  readonly name: string;
  readonly namespace: string;
}

/** Why the CA of a mesh is left as it is: a sentence with Secret and remedy. */
export class AuthorityProblem extends Error {
  override readonly name = "AuthorityProblem";
}

/**
 * The CA that a control plane reads at its next start. Whether a running one has read it, the roots that it hands out say. Throws
 * AuthorityProblem where it may not be replaced.
 */
export async function findAuthority(cluster: Cluster, ref: SecretRef, signal?: AbortSignal): Promise<FoundAuthority> {
  const secret = await cluster.get(Secret, ref, signal);
  if (secret !== undefined) {
    const record = recordIn(secret, await digestOf(secretTexts(secret)));
    if (record === undefined && secret.metadata.annotations?.[ADOPT] !== "true") {
      throw new AuthorityProblem(
        `Secret ${ref.namespace}/${ref.name} was not written by this agent and is kept: to have the mesh moved from its CA to the root of the VirtualMesh ` +
          `without an interruption, annotate it with ${ADOPT}: "true"`,
      );
    }
    return found(ref, secret, record);
  }
  const own = await cluster.get(Secret, { name: OWN_CA, namespace: ref.namespace }, signal);
  if (own === undefined) {
    throw new AuthorityProblem(
      `neither Secret ${ref.namespace}/${ref.name} nor ${ref.namespace}/${OWN_CA} exists, so the root that the proxies of the mesh trust now is unknown: ` +
        "check that istiod is running in this namespace and signs certificates itself; if its Secret was deleted, restore it from a backup; if there " +
        `is none, restart istiod, which makes another CA, and then all workloads of the mesh: ${COST}`,
    );
  }
  return { ...(await found({ ...ref, name: OWN_CA }, own, undefined)), secret: undefined };
}

/** Why nothing is known of what is in force in a mesh: `isHandedOut`: its control plane hands out other roots, or none. */
export function unconfirmed({ secret, record }: FoundAuthority, ref: SecretRef, isHandedOut: boolean): AuthorityProblem {
  const [name, handedOut] = [`Secret ${ref.namespace}/${ref.name}`, `ConfigMap ${ref.namespace}/istio-ca-root-cert`];
  if (!isHandedOut) {
    return new AuthorityProblem(
      `${handedOut} does not exist, so it is unknown which roots istiod hands out: nothing is changed: check that istiod is running in this namespace`,
    );
  }
  if (secret === undefined) {
    return new AuthorityProblem(
      `${name} does not exist, and istiod hands out other roots in ${handedOut} than its own CA in Secret ${ref.namespace}/${OWN_CA} has: ` +
        `${name} was deleted, istiod continues with what it has in memory until it restarts, and nothing is changed: restore ${name} from a backup before ` +
        `istiod restarts; if there is none, restart istiod and then all workloads of the mesh: ${COST}`,
    );
  }
  const cause =
    record.generations.at(-1)?.installedAt === 0 ? "istiod has not read it" : "its content was replaced, such as by an old backup";
  return new AuthorityProblem(
    `${name} has other roots than istiod hands out in ${handedOut}: ${cause}, and nothing is changed: restore the content that istiod has read; ` +
      `if the present one is meant, restart istiod and then all workloads of the mesh: ${COST}`,
  );
}

async function found(ref: SecretRef, secret: Secret, record: AuthorityRecord | undefined): Promise<FoundAuthority> {
  const authority = authorityIn(secretTexts(secret));
  const remedy = `Secret ${ref.namespace}/${ref.name} contains no CA that a control plane could use`;
  if (authority === undefined)
    throw new AuthorityProblem(
      `${remedy}: it needs ca-cert.pem and ca-key.pem: restore both from a backup; if it is not the Secret of a CA, delete it`,
    );
  const facts = await authorityFacts(authority).catch((error: unknown) => {
    throw new AuthorityProblem(`${remedy}: ${messageOf(error)}: correct it`);
  });
  const generation = { roots: facts.roots, signer: facts.signer, installedAt: 0, since: 0 };
  return { authority, facts, record: record ?? { generations: [generation] }, secret };
}

/** Writes the CA in the very version that was found. Rejects with ClusterError, with Conflict when somebody else was faster. */
export async function installAuthority(
  cluster: Cluster,
  ref: SecretRef,
  {
    before,
    authority,
    record,
  }: { readonly before: Secret | undefined; readonly authority: InstalledAuthority; readonly record: NotedRecord },
  signal?: AbortSignal,
): Promise<void> {
  const texts = authorityTexts(authority);
  const { data, metadata } = secretOf(ref, texts);
  const annotations = { [RECORD]: JSON.stringify({ ...record, digest: await digestOf(texts) }) };
  const content = data === undefined ? {} : { data };
  if (before === undefined) {
    const labels = { ...metadata.labels, [AGENT_LABEL]: ref.namespace };
    await cluster.create(
      { apiVersion: "v1", kind: "Secret", metadata: { ...metadata, labels, annotations }, type: ISSUED_TYPE, ...content } as Secret,
      signal,
    );
    return;
  }
  const { managedFields: _, annotations: given, ...kept } = before.metadata;
  const { [ADOPT]: __, ...others } = given ?? {};
  await cluster.update({ ...before, metadata: { ...kept, annotations: { ...others, ...annotations } }, ...content }, signal);
}

/** Notes what has become known since, and leaves the CA as it is. */
export async function noteGenerations(cluster: Cluster, secret: Secret, record: NotedRecord, signal?: AbortSignal): Promise<void> {
  const { managedFields: _, ...metadata } = secret.metadata;
  const digest = await digestOf(secretTexts(secret));
  const annotations = { ...metadata.annotations, [RECORD]: JSON.stringify({ ...record, digest }) };
  await cluster.update({ ...secret, metadata: { ...metadata, annotations } }, signal);
}

/** The key of a CA that is requested: made once, and kept until the CA is installed, or until another size is ordered. */
export async function pendingKey(
  cluster: Cluster,
  { name, namespace }: SecretRef,
  rsaBits: number | undefined,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const secret = await cluster.get(Secret, { name: PENDING_KEYS, namespace }, signal);
  const keys = secret === undefined ? {} : secretTexts(secret);
  const known = keys[name];
  if (rsaBits === undefined || (known !== undefined && (await meshKeyBits(known)) === rsaBits)) return known;
  const key = await createMeshKey(rsaBits);
  await writeKeys(cluster, { secret, namespace, keys: { ...keys, [name]: key } }, signal);
  return key;
}

/** The CA is installed, or requested no longer. */
export async function forgetPendingKey(cluster: Cluster, { name, namespace }: SecretRef, signal?: AbortSignal): Promise<void> {
  const secret = await cluster.get(Secret, { name: PENDING_KEYS, namespace }, signal);
  if (secret === undefined) return;
  const { [name]: known, ...keys } = secretTexts(secret);
  if (known !== undefined) await writeKeys(cluster, { secret, namespace, keys }, signal);
}

async function writeKeys(
  cluster: Cluster,
  {
    secret,
    namespace,
    keys,
  }: { readonly secret: Secret | undefined; readonly namespace: string; readonly keys: Readonly<Record<string, string>> },
  signal?: AbortSignal,
): Promise<void> {
  const next = secretOf({ name: PENDING_KEYS, namespace }, keys);
  if (secret === undefined) {
    await cluster.create(next, signal);
    return;
  }
  const { managedFields: _, ...metadata } = secret.metadata;
  await cluster.update({ ...secret, metadata, ...(next.data === undefined ? {} : { data: next.data }) }, signal);
}

/** What this agent noted on a Secret; undefined when the Secret is not as this agent wrote it. */
function recordIn(secret: Secret, digest: string): AuthorityRecord | undefined {
  const text = secret.metadata.annotations?.[RECORD];
  if (text === undefined || text.length > LONGEST_RECORD) return undefined;
  try {
    const record = JSON.parse(text) as NotedRecord & { readonly digest: string };
    const { generations } = record;
    if (!equalJson(record.digest, digest) || !Array.isArray(generations) || generations.length === 0) return undefined;
    return { ...record, generations: withWriteTimes(generations, secret) };
  } catch {
    // Somebody wrote there what is no record.
    return undefined;
  }
}

async function digestOf(texts: Readonly<Record<string, string>>): Promise<string> {
  const sorted = JSON.stringify(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1)));
  const digest = await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(sorted));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether a write failed as somebody else was faster, or the API server was not there: it is tried again. */
export function isTransient(error: unknown): boolean {
  return error instanceof ClusterError && ["Conflict", "AlreadyExists", "Unavailable"].includes(error.code);
}

const AGENT_LABEL = "agent.certificates.mesh.gloo.solo.io";
const LONGEST_RECORD = 64 * 1024;
