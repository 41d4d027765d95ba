/**
 * What each mesh of a VirtualMesh is to do next, so that all of them end up below one root and no proxy ever meets a certificate that it
 * does not trust. A pure function of what agents report: no phase is kept anywhere, so nothing is lost by a restart, and a decision
 * follows from what is in force, never from what was ordered. Source of the sequence: docs/decisions/0058.
 */

/** A root: the SHA-256 of its certificate, in hex, and the certificate in PEM. */
export interface TrustRoot {
  readonly fingerprint: string;
  readonly certificate: string;
}

/** What is known of a mesh's trust. Roots are named by their fingerprints. */
export interface MeshTrust {
  /** Of what the control plane reads at its next start: the text of root-cert.pem, the roots in it, and the root of its CA. */
  readonly installed: { readonly rootCertificates: string; readonly roots: readonly string[]; readonly signer: string };
  /** Of what proxies use: the roots that each of them trusts for certain, and all roots that a certificate of one may come from. */
  readonly inForce: { readonly trusted: readonly string[]; readonly signers: readonly string[] };
}

/** A mesh of a VirtualMesh. */
export interface TrustMember {
  /** Name of the mesh, for messages. */
  readonly name: string;
  /** Undefined as long as its agent has not reported it. */
  readonly trust: MeshTrust | undefined;
  /** Whether its agent reports now: what is known otherwise may be old. */
  readonly isConnected: boolean;
  /** What was ordered of it since what is known was reported: each may be installed and in force at any moment. Default: nothing. */
  readonly ordered?: readonly PendingTrust[];
}

/** What an order, once followed, makes a mesh trust and sign below. */
export interface PendingTrust {
  readonly roots: readonly string[];
  readonly signer: string;
}

/** `TRUST_BOTH`: trust the new root beside the old ones. `REISSUE`: sign below the new root. `RETIRE`: trust the new root alone. `KEEP`: nothing is to change. */
export type TrustStep = "TRUST_BOTH" | "REISSUE" | "RETIRE" | "KEEP";

/** What a mesh is to install. */
export interface TrustRequest {
  readonly step: TrustStep;
  /** The text of root-cert.pem, byte for byte: the same as long as the step does not change what is trusted. */
  readonly rootCertificates: string;
  /** Fingerprints of the roots in it. */
  readonly roots: readonly string[];
  /** Fingerprint of the root of its CA. */
  readonly signer: string;
  /** Names of the meshes without which the next step is not taken. */
  readonly waitsFor: readonly string[];
}

/** The order of each member of a VirtualMesh whose trust is known, by name. */
export function trustPlan(members: readonly TrustMember[], target: TrustRoot): ReadonlyMap<string, TrustRequest> {
  const { fingerprint } = target;
  // What is in force where nobody reports now may be another thing by now: then the next step is not taken anywhere.
  const isKnown = ({ isConnected, trust }: TrustMember) => isConnected && trust !== undefined;
  const untrusting = names(members.filter((one) => !isKnown(one) || !trustedBy(one).includes(fingerprint)));
  const unissued = names(members.filter((one) => !isKnown(one) || signersOf(one).some((signer) => signer !== fingerprint)));
  const orders = new Map<string, TrustRequest>();
  for (const { name, trust } of members) {
    if (trust !== undefined) orders.set(name, orderOf(trust.installed, { target, untrusting, unissued }));
  }
  return orders;
}

/** The roots that each proxy trusts for certain, whatever it has followed of its orders. */
function trustedBy({ trust, ordered = [] }: TrustMember): readonly string[] {
  return (trust?.inForce.trusted ?? []).filter((root) => ordered.every(({ roots }) => roots.includes(root)));
}

function signersOf({ trust, ordered = [] }: TrustMember): readonly string[] {
  return [...(trust?.inForce.signers ?? []), ...ordered.map(({ signer }) => signer)];
}

interface PlanState {
  readonly target: TrustRoot;
  /** Meshes in which a certificate of the target may be refused. */
  readonly untrusting: readonly string[];
  /** Meshes in which a certificate of another root may be in use. */
  readonly unissued: readonly string[];
}

function orderOf({ rootCertificates, roots, signer }: MeshTrust["installed"], { target, untrusting, unissued }: PlanState): TrustRequest {
  const { fingerprint, certificate } = target;
  const kept = { rootCertificates, roots };
  if (!roots.includes(fingerprint)) {
    // To trust one more breaks nothing, no matter what is offline.
    const both = { rootCertificates: withNewline(rootCertificates) + certificate, roots: [...roots, fingerprint] };
    return { step: "TRUST_BOTH", ...both, signer, waitsFor: untrusting };
  }
  if (signer !== fingerprint) {
    if (untrusting.length > 0) return { step: "TRUST_BOTH", ...kept, signer, waitsFor: untrusting };
    return { step: "REISSUE", ...kept, signer: fingerprint, waitsFor: unissued };
  }
  if (roots.length === 1) return { step: "KEEP", ...kept, signer, waitsFor: [] };
  if (unissued.length > 0) return { step: "REISSUE", ...kept, signer, waitsFor: unissued };
  return { step: "RETIRE", rootCertificates: certificate, roots: [fingerprint], signer, waitsFor: [] };
}

function names(members: readonly TrustMember[]): readonly string[] {
  return members.map(({ name }) => name);
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
