import {
  AGENT_LIFETIME_MS,
  AUTHORITY_LIFETIME_MS,
  certificateFacts,
  createAuthority,
  createRoot,
  isForClientsAlone,
  isSignedBy,
  issueServerCertificate,
  type KeyedCertificate,
  ROOT_LIFETIME_MS,
  SERVER_LIFETIME_MS,
} from "@isthmus/certificates";
import { rootsDigest } from "./roots.ts";
import { DEFAULT_NAMES, type ServerIdentity } from "./serverIdentity.ts";

/** The roots of an identity that we made ourselves. While one takes over from another, both are trusted. */
export interface Roots {
  /** Signs the server's certificate and the signing authority. */
  readonly current: KeyedCertificate;
  /** Will take over as soon as every agent trusts it. */
  readonly next?: KeyedCertificate;
  /** Signed before `current` did; still trusted. PEM; its key is gone. */
  readonly previous?: string;
  /** When `current` took over from `previous`. Milliseconds since 1970. */
  readonly since?: number;
}

/** An identity that we made ourselves, with what it takes to make the next one. */
export interface MadeIdentity extends ServerIdentity {
  readonly signing: KeyedCertificate;
  readonly roots: Roots;
}

/** How long certificates live, in milliseconds. */
export interface Lifetimes {
  readonly root: number;
  readonly signing: number;
  readonly server: number;
  readonly agent: number;
}

export interface RotationOptions {
  /** DNS names of the server. */
  readonly names: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly lifetimes?: Partial<Lifetimes>;
  /** Whether every agent trusts exactly these roots (`rootsDigest`). */
  readonly isTrustedByAll: (digest: string) => boolean;
}

const DEFAULT_LIFETIMES: Lifetimes = {
  root: ROOT_LIFETIME_MS,
  signing: AUTHORITY_LIFETIME_MS,
  server: SERVER_LIFETIME_MS,
  agent: AGENT_LIFETIME_MS,
};

/** The name of the authority that signs agents' certificates, where we make it. No server's certificate comes from it. */
export const SIGNING_NAME = "gloo-mesh relay signing";

/** When the successor is made, as a share of a life: agents renew before the same moment of theirs. */
const RENEWED_AFTER = 2 / 3;

/** When a root takes over though not every agent is known to trust it: those that have not called until then have no valid certificate any more. */
const FORCED_AFTER = 5 / 6;

/** A new identity for the default names. */
export function createServerIdentity(options: { readonly now: number; readonly names?: readonly string[] }): Promise<MadeIdentity> {
  return makeIdentity({ names: DEFAULT_NAMES, ...options });
}

/** A new identity: a root, a signing authority and a server's certificate below it. */
export async function makeIdentity({ names, now, lifetimes }: Omit<RotationOptions, "isTrustedByAll">): Promise<MadeIdentity> {
  const lives = { ...DEFAULT_LIFETIMES, ...lifetimes };
  const current = await newRoot(now, lives);
  return { roots: { current }, root: current.certificate, ...(await issuedBy(current, { names, now, lives })) };
}

/**
 * The identity as it should be now; the very same when nothing is due. A root is replaced with overlap: both are trusted → the
 * new one signs → all certificates of the old one have gone → the old one is retired. One step each time.
 */
export async function rotateIdentity(identity: MadeIdentity, options: RotationOptions): Promise<MadeIdentity> {
  const { names, now } = options;
  const lives = { ...DEFAULT_LIFETIMES, ...options.lifetimes };
  const roots = await nextRoots(identity, { ...options, lives });
  if (roots !== identity.roots) {
    const issued = roots.current === identity.roots.current ? identity : await issuedBy(roots.current, { names, now, lives });
    return { roots, root: trusted(roots), signing: issued.signing, server: issued.server };
  }
  const { current } = roots;
  const server = (await isDue(identity.server, current, now)) ? await newServer(current, { names, now, lives }) : identity.server;
  // One that older versions made could also vouch for servers.
  const isSigningDue = !isForClientsAlone(identity.signing.certificate) || (await isDue(identity.signing, current, now));
  const signing = isSigningDue ? await newSigning(current, now, lives) : identity.signing;
  return server === identity.server && signing === identity.signing ? identity : { ...identity, server, signing };
}

async function nextRoots({ roots, root }: MadeIdentity, options: RotationOptions & { readonly lives: Lifetimes }): Promise<Roots> {
  const { now, lives, isTrustedByAll } = options;
  const { current, next, previous, since = 0 } = roots;
  const all = () => rootsDigest(root).then(isTrustedByAll);
  if (previous !== undefined) {
    const isUnused = now > since + lives.agent && (await all());
    return isUnused || now >= certificateFacts(previous).notAfter ? { current } : roots;
  }
  if (next !== undefined) {
    const isTime = now >= shareOfLife(current, FORCED_AFTER) || (await all());
    return isTime ? { current: next, previous: current.certificate, since: now } : roots;
  }
  return now >= shareOfLife(current, RENEWED_AFTER) ? { current, next: await newRoot(now, lives) } : roots;
}

function trusted({ current, next, previous }: Roots): string {
  return [current.certificate, next?.certificate ?? "", previous ?? ""].join("");
}

/** Whether a certificate is to be replaced: two thirds of its life have passed, or it is not of the root that signs now. */
async function isDue({ certificate }: KeyedCertificate, root: KeyedCertificate, now: number): Promise<boolean> {
  return now >= shareOfLife({ certificate }, RENEWED_AFTER) || !(await isSignedBy(certificate, root.certificate));
}

function shareOfLife({ certificate }: Pick<KeyedCertificate, "certificate">, share: number): number {
  const { notBefore, notAfter } = certificateFacts(certificate);
  return notBefore + (notAfter - notBefore) * share;
}

interface Issuing {
  readonly names: readonly string[];
  readonly now: number;
  readonly lives: Lifetimes;
}

async function issuedBy(root: KeyedCertificate, issuing: Issuing) {
  const { now, lives } = issuing;
  return { signing: await newSigning(root, now, lives), server: await newServer(root, issuing) };
}

function newRoot(now: number, lives: Lifetimes): Promise<KeyedCertificate> {
  return createRoot({ commonName: "gloo-mesh relay root", now, lifetimeMs: lives.root });
}

function newSigning(root: KeyedCertificate, now: number, lives: Lifetimes): Promise<KeyedCertificate> {
  return createAuthority(root, { commonName: SIGNING_NAME, now, lifetimeMs: lives.signing });
}

function newServer(root: KeyedCertificate, { names, now, lives }: Issuing): Promise<KeyedCertificate> {
  return issueServerCertificate(root, { dnsNames: names, now, lifetimeMs: lives.server });
}
