import { IssuedCertificate, JOIN_TOKEN_LABEL, Secret, type VirtualMesh } from "@isthmus/api";
import { chainFacts, InvalidPem, readOnce } from "@isthmus/certificates";
import { displayName, keptText, type ObjectRef, type Snapshot } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";
import { GENERATED_SECRET, RELAY_SECRETS } from "../../identity/relaySecrets.ts";
import { decodedText } from "../../identity/secretData.ts";
import type { SnapshotStore } from "../../snapshots/snapshotStore.ts";
import { certificateValidity } from "../statuses/certificateExpiring.ts";
import { endOfJoinToken } from "../statuses/joinTokenExpiring.ts";
import { GENERATED_ROOT_TYPE } from "./earlierRoots.ts";
import { type RestartForecast, restartForecast } from "./restartForecast.ts";
import { issuedByVirtualMesh, type Member } from "./trustRequests.ts";
import type { KnownRoot } from "./trustRoots.ts";

/** What a certificate or token is for: of the relay, of an agent, the CA of a mesh, or a root of meshes; an external one is in Vault. */
export type CertificateUse =
  | "meshRoot"
  | "externalRoot"
  | "meshIntermediate"
  | "agent"
  | "relayRoot"
  | "relaySigning"
  | "relayServer"
  | "joinToken"
  | "sharedToken";

/** `EXPIRING`: the one who renews it should have done so, or a person has to. `NO_EXPIRY`: it is valid until somebody replaces it. `UNKNOWN`: nobody reports it. */
export type CertificateState = "VALID" | "EXPIRING" | "EXPIRED" | "NO_EXPIRY" | "UNKNOWN";

/** A certificate or token of the fleet, without anything secret. */
export interface CertificateEntry {
  readonly use: CertificateUse;
  /** Of its Secret, of its mesh, or of the agent's cluster. */
  readonly name: string;
  /** Of its Secret; "" where it is in none that the plane names. */
  readonly namespace: string;
  /** "" is the management cluster. */
  readonly cluster: string;
  /** RFC 3339. */
  readonly notBefore?: string;
  readonly notAfter?: string;
  readonly state: CertificateState;
  /** What happens next, and who does it. */
  readonly next: string;
  /** PEM, where it is known. */
  readonly certificate?: string;
  /** The VirtualMesh that uses it, as namespace/name. */
  readonly virtualMesh?: string;
  /** Of a generated root. */
  readonly isGenerated?: boolean;
  /** Of a mesh's CA: what a rotation restarts. */
  readonly forecast?: RestartForecast;
}

/** What the inventory follows from. */
export interface InventorySources {
  /** Of the management plane. */
  readonly namespace: string;
  /** With the Secrets of that namespace, of which only public parts are seen. */
  readonly management: Snapshot;
  readonly store: Pick<SnapshotStore, "clusters" | "snapshotIn">;
  /** Undefined before there was a translation. */
  readonly translation: Translation | undefined;
  /** The root in a Secret that the server does not watch, where it has looked. */
  readonly rootIn: (ref: ObjectRef) => KnownRoot | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Every certificate and token that the server knows of. `hasForecasts`: with what a rotation restarts, for which all pods are counted. */
export function certificateInventory(sources: InventorySources, { hasForecasts = false } = {}): readonly CertificateEntry[] {
  return [...meshCertificates(sources, hasForecasts), ...agents(sources), ...ofRelay(sources)];
}

/** Those of them that meshes use. */
export function meshCertificates(sources: InventorySources, hasForecasts = false): readonly CertificateEntry[] {
  const issued = sources.translation === undefined ? new Map<VirtualMesh, readonly Member[]>() : issuedByVirtualMesh(sources.translation);
  return [...meshRoots(issued, sources), ...externalRoots(issued, sources), ...intermediates(issued, sources, hasForecasts)];
}

type Issued = ReadonlyMap<VirtualMesh, readonly Member[]>;

function meshRoots(issued: Issued, { namespace, management, rootIn, now }: InventorySources): readonly CertificateEntry[] {
  const users = new Map<string, { readonly ref: ObjectRef; readonly virtualMesh: string }>();
  for (const [virtualMesh, [first]] of issued) {
    const { name = "", namespace: of = "" } = first?.spec.glooMeshCa?.signingCertificateSecret ?? {};
    if (name !== "") users.set(`${of}/${name}`, { ref: { name, namespace: of }, virtualMesh: virtualMeshName(virtualMesh) });
  }
  // Another Secret with a key beside a root is what CAs of meshes are signed with. Of keys nothing but the name is seen here.
  const secrets = [...management.of(Secret)].filter(
    ({ metadata, data = {} }) => data["key.pem"] !== undefined && metadata.namespace === namespace,
  );
  const places = new Map(secrets.map((secret) => [displayName(secret.metadata), { name: secret.metadata.name, namespace }]));
  for (const [key, { ref }] of users) places.set(key, ref);
  return [...places].map(([key, ref]) => {
    const secret = management.of(Secret).get({ ...ref, clusterName: "" });
    const known = secret === undefined ? rootIn(ref) : undefined;
    const text =
      secret === undefined
        ? known !== undefined && "root" in known
          ? known.root.certificate
          : undefined
        : decoded(secret, "root-cert.pem");
    const times = timesIn(text);
    const virtualMesh = users.get(key)?.virtualMesh;
    const isGenerated = secret?.type === GENERATED_ROOT_TYPE;
    const state = stateOf(times, now, authorityWarning);
    return {
      use: "meshRoot",
      ...ref,
      cluster: "",
      ...shown(times, text),
      state,
      next: nextOfRoot({ virtualMesh, isGenerated, state }),
      isGenerated,
      ...(virtualMesh === undefined ? {} : { virtualMesh }),
    };
  });
}

function nextOfRoot({
  virtualMesh,
  isGenerated,
  state,
}: {
  readonly virtualMesh: string | undefined;
  readonly isGenerated: boolean;
  readonly state: CertificateState;
}): string {
  if (virtualMesh === undefined) return "used by no VirtualMesh";
  if (isGenerated) return `${state === "VALID" ? "replace it before it expires" : "replace it now"}: meshctl cert rotate`;
  return `${state === "VALID" ? "replace it before it expires" : "replace it now"}: name another Secret in VirtualMesh ${virtualMesh}`;
}

/** The root of each authority outside, as the agent of each mesh has read it: they need not agree. */
function externalRoots(issued: Issued, { store, now }: InventorySources): readonly CertificateEntry[] {
  return [...issued].flatMap(([virtualMesh, members]) =>
    members.flatMap(({ ref, spec }): readonly CertificateEntry[] => {
      const { vault } = spec.agentCa ?? {};
      if (vault === undefined) return [];
      const { rootCertificate: text, problem } = store.snapshotIn(ref.clusterName).of(IssuedCertificate).get(ref)?.status?.offered ?? {};
      const times = timesIn(text);
      const state = stateOf(times, now, authorityWarning);
      const place = { name: ref.name, namespace: "", cluster: ref.clusterName };
      const server = keptText(vault.server ?? "", MOST_OF_URL);
      const next = nextOfExternalRoot({ isKnown: times !== undefined, state, server, cluster: ref.clusterName, problem });
      return [{ use: "externalRoot", ...place, ...shown(times, text), state, next, virtualMesh: virtualMeshName(virtualMesh) }];
    }),
  );
}

function nextOfExternalRoot({
  isKnown,
  state,
  server,
  cluster,
  problem,
}: {
  readonly isKnown: boolean;
  readonly state: CertificateState;
  readonly server: string;
  readonly cluster: string;
  /** By the word of the agent. */
  readonly problem: string | undefined;
}): string {
  if (!isKnown) return `not read from Vault ${server}: check the agent of ${cluster}`;
  const unread = problem === undefined ? "" : `; read before, and not now: ${keptText(problem, MOST_OF_PROBLEM)}`;
  return `${state === "VALID" ? "replace it before it expires" : "replace it now"}: in Vault ${server}${unread}`;
}

function intermediates(issued: Issued, sources: InventorySources, hasForecasts: boolean): readonly CertificateEntry[] {
  const { store, now } = sources;
  return [...issued].flatMap(([virtualMesh, members]) =>
    members.map((member): CertificateEntry => {
      const { ref, spec } = member;
      const snapshot = store.snapshotIn(ref.clusterName);
      const reported = snapshot.of(IssuedCertificate).get(ref);
      const { installed } = reported?.status ?? {};
      const notAfter = Date.parse(installed?.notAfter ?? "");
      const times = timesIn(installed?.certificate) ?? (Number.isNaN(notAfter) ? undefined : { notAfter });
      const ratio = spec.certOptions?.secretRotationGracePeriodRatio ?? 0.1;
      const state = stateOf(times, now, ({ notBefore, notAfter: end }) => (notBefore === undefined ? 0 : ((end - notBefore) * ratio) / 2));
      const isConnected = store.clusters.get(ref.clusterName)?.connected === true;
      return {
        use: "meshIntermediate",
        name: ref.name,
        namespace: spec.issuedCertificateSecret?.namespace ?? "",
        cluster: ref.clusterName,
        ...shown(times, installed?.certificate),
        state,
        next: nextOfIntermediate(times, { ratio, isConnected, cluster: ref.clusterName }),
        virtualMesh: virtualMeshName(virtualMesh),
        ...(hasForecasts ? { forecast: restartForecast(member, { virtualMesh, snapshot, reported, isConnected }) } : {}),
      };
    }),
  );
}

function nextOfIntermediate(
  times: Times | undefined,
  { ratio, isConnected, cluster }: { readonly ratio: number; readonly isConnected: boolean; readonly cluster: string },
): string {
  if (times === undefined) return `not reported: check the agent of ${cluster}`;
  if (!isConnected) return `renewed by the agent of ${cluster}, which is not connected`;
  if (times.notBefore === undefined) return `renewed by the agent of ${cluster}`;
  const due = times.notAfter - (times.notAfter - times.notBefore) * ratio;
  return `renewed by the agent of ${cluster} on ${isoTime(due).slice(0, 10)}`;
}

function agents({ store, now }: InventorySources): readonly CertificateEntry[] {
  return [...store.clusters].flatMap(([name, { agent, connected }]): CertificateEntry[] => {
    if (agent?.certificate === undefined) return [];
    const { notBefore, notAfter } = agent.certificate;
    const validity = certificateValidity(agent, now);
    const state = validity === "Expired" ? "EXPIRED" : validity === "RenewalOverdue" ? "EXPIRING" : "VALID";
    const next = connected ? "renewed by its agent" : "renewed by its agent, which is not connected";
    return [
      {
        use: "agent",
        name,
        namespace: agent.agentNamespace ?? "",
        cluster: name,
        ...shown({ notBefore, notAfter }, undefined),
        state,
        next,
      },
    ];
  });
}

function ofRelay({ namespace, management, now }: InventorySources): readonly CertificateEntry[] {
  const secrets = management.of(Secret);
  const isGenerated = secrets.get({ name: GENERATED_SECRET, namespace, clusterName: "" }) !== undefined;
  return [...secrets].flatMap((secret): CertificateEntry[] => {
    const { name, namespace: of = "", labels } = secret.metadata;
    const place = { name, namespace: of, cluster: "" };
    const token = labels?.[JOIN_TOKEN_LABEL];
    if (token !== undefined) {
      const notAfter = endOfJoinToken(secret);
      const state = notAfter !== undefined && now < notAfter ? "VALID" : "EXPIRED";
      const times = notAfter === undefined ? undefined : { notAfter };
      return [{ use: "joinToken", ...place, cluster: token, ...shown(times, undefined), state, next: "deleted after its use or its end" }];
    }
    if (name === RELAY_SECRETS.token) {
      return [{ use: "sharedToken", ...place, state: "NO_EXPIRY", next: "replaced by meshctl cluster revoke --rotate-token" }];
    }
    const found = OF_RELAY.get(name);
    if (found === undefined || of !== namespace) return [];
    const text = decoded(secret, found.key);
    const times = timesIn(text);
    const next = isGenerated ? "renewed by the server" : "replaced by you: docs/own-pki.md";
    return [{ use: found.use, ...place, ...shown(times, text), state: stateOf(times, now, authorityWarning), next }];
  });
}

/** Milliseconds since 1970. */
interface Times {
  readonly notBefore?: number;
  readonly notAfter: number;
}

/** Of the first certificate to end; undefined for what is no certificate: the one who uses it says so. */
function timesIn(pem: string | undefined): Times | undefined {
  return pem === undefined || pem === "" ? undefined : knownTimes(pem);
}

/** Of a large fleet each is read once, and not with each status. */
const knownTimes = readOnce(readTimes);

function readTimes(pem: string): Times | undefined {
  try {
    const [first, ...others] = chainFacts(pem);
    const end = others.reduce((least, { notAfter }) => Math.min(least, notAfter), first?.notAfter ?? 0);
    return first === undefined ? undefined : { notBefore: first.notBefore, notAfter: end };
  } catch (error) {
    if (error instanceof InvalidPem) return undefined;
    throw error;
  }
}

/** Of the management cluster `namespace/name`; others say which cluster they are in. */
function virtualMeshName({ metadata }: VirtualMesh): string {
  return `${displayName(metadata)}${(metadata.clusterName ?? "") === "" ? "" : ` of ${metadata.clusterName}`}`;
}

function stateOf(times: Times | undefined, now: number, warning: (times: Times) => number): CertificateState {
  if (times === undefined) return "UNKNOWN";
  if (now >= times.notAfter) return "EXPIRED";
  return now >= times.notAfter - warning(times) ? "EXPIRING" : "VALID";
}

/** How long before its end a person has to be warned of an authority: a rotation takes days, but a short life is no reason to warn at once. */
function authorityWarning({ notBefore, notAfter }: Times): number {
  return notBefore === undefined ? LONGEST_WARNING_MS : Math.min(LONGEST_WARNING_MS, (notAfter - notBefore) / 6);
}

function shown(
  times: Times | undefined,
  certificate: string | undefined,
): Pick<CertificateEntry, "notBefore" | "notAfter" | "certificate"> {
  return {
    ...(times?.notBefore === undefined ? {} : { notBefore: isoTime(times.notBefore) }),
    ...(times === undefined ? {} : { notAfter: isoTime(times.notAfter) }),
    ...(times === undefined || certificate === undefined ? {} : { certificate }),
  };
}

/** A text of what is public in a Secret. */
function decoded({ data = {} }: Secret, key: string): string | undefined {
  const value = data[key];
  return value === undefined || value === "" ? undefined : decodedText(value);
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

const OF_RELAY: ReadonlyMap<string, { readonly use: CertificateUse; readonly key: string }> = new Map([
  [RELAY_SECRETS.root, { use: "relayRoot", key: "ca.crt" }],
  [RELAY_SECRETS.signing, { use: "relaySigning", key: "tls.crt" }],
  [RELAY_SECRETS.server, { use: "relayServer", key: "tls.crt" }],
]);
const LONGEST_WARNING_MS = 60 * 86_400_000;
const MOST_OF_URL = 256;
const MOST_OF_PROBLEM = 512;
