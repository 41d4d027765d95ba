import type { IssuedCertificate } from "@isthmus/api";
import type { MeshTrust, TrustRequest } from "@isthmus/certificates";
import type { KnownRoot } from "./trustRoots.ts";

/** A mesh of a VirtualMesh with an authority outside, with what its agent has reported. */
export interface ReportedMember {
  readonly name: string;
  readonly reported: IssuedCertificate | undefined;
}

/** What the authority outside of a VirtualMesh offers, by the word of the agents of all of its meshes. */
export interface OfferedRoot {
  /** Undefined until all have read it. */
  readonly target: KnownRoot | undefined;
  /** Where not all say the same: what each mesh keeps, by name. */
  readonly kept?: ReadonlyMap<string, TrustRequest>;
}

/**
 * A root is one to move to when the agents of all meshes have read the same. Until then each mesh keeps what it has, and may renew below it:
 * no agent can move the others, or stop them, by what it says of the authority.
 */
export function offeredRoot(members: readonly ReportedMember[]): OfferedRoot {
  const offers = members.map(({ name, reported }) => ({ name, ...reported?.status?.offered }));
  const [first, ...others] = offers;
  const { root = "", rootCertificate = "" } = first ?? {};
  const isKnown = offers.every((offer) => (offer.root ?? "") !== "" && (offer.rootCertificate ?? "") !== "");
  const differing = others.find((offer) => offer.root !== root || offer.rootCertificate !== rootCertificate);
  if (isKnown && differing === undefined) return { target: { root: { fingerprint: root, certificate: rootCertificate } } };
  const kept = new Map(members.flatMap(({ name, reported }) => keptBy(name, reportedTrust(reported))));
  if (!isKnown || first === undefined || differing === undefined) return { target: undefined, kept };
  const problem =
    `Vault offers different roots to the agents of Mesh ${first.name} (SHA-256 ${root.slice(0, 16)}…) and Mesh ${differing.name} ` +
    `(${(differing.root ?? "").slice(0, 16)}…): every mesh keeps its trust: let vault.server and vault.caPath be the same Vault in all clusters; after a change of Vault's root this passes within a minute`;
  return { target: { problem }, kept };
}

function keptBy(name: string, trust: MeshTrust | undefined): readonly (readonly [string, TrustRequest])[] {
  return trust === undefined ? [] : [[name, { step: "KEEP", ...trust.installed, waitsFor: [] }]];
}

/** What an agent has reported of a mesh's trust. */
export function reportedTrust(reported: IssuedCertificate | undefined): MeshTrust | undefined {
  const { installed, inForce } = reported?.status ?? {};
  const { rootCertificates, roots, signer } = installed ?? {};
  const { trusted, signers } = inForce ?? {};
  if (rootCertificates === undefined || roots === undefined || signer === undefined) return undefined;
  if (trusted === undefined || signers === undefined) return undefined;
  return { installed: { rootCertificates, roots, signer }, inForce: { trusted, signers } };
}
