import { keptText } from "@isthmus/core";
import { InvalidPem } from "@isthmus/core/pem";
import { MESH_BACKDATED_MS, validity } from "./lifetimes.ts";
import {
  certificateFacts,
  issueForRequest,
  type KeyedCertificate,
  type NewKey,
  newKey,
  requestForRsaKey,
  rsaBitsOf,
  selfSigned,
  urisOfRequest,
} from "./x509.ts";

// Certificate authorities of meshes: a root for each VirtualMesh, and below it an intermediate for each mesh.

/** How an authority of a mesh is made. */
export interface MeshAuthorityOptions {
  /** Name for people; the identity is in `uris`. */
  readonly commonName: string;
  readonly organization: string;
  readonly lifetimeMs: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A root that has signed itself, with a new key. Source: specification of the published product, "Generated root". */
export function createMeshRoot(
  { commonName, organization, lifetimeMs, now }: MeshAuthorityOptions,
  key: NewKey,
): Promise<KeyedCertificate> {
  const template = {
    commonName,
    organization,
    dnsNames: [],
    uris: [],
    ...validity(now, lifetimeMs, { backdatedMs: MESH_BACKDATED_MS }),
    pathLength: "any",
    usages: [],
  } as const;
  return selfSigned(template, key);
}

/** A new RSA key for the authority of a mesh, in PEM. It is made where it stays. */
export function createMeshKey(rsaBits: number): Promise<string> {
  return newKey(rsaBits);
}

/** The size of such a key in bits. Throws InvalidPem for a key of another kind. */
export function meshKeyBits(key: string): Promise<number> {
  return rsaBitsOf(key);
}

/** The request for the authority of a mesh, with the identity that its certificate is to have. */
export function createMeshRequest(
  key: string,
  names: { readonly commonName: string; readonly organization: string; readonly uris: readonly string[] },
): Promise<string> {
  return requestForRsaKey(key, names);
}

export interface IntermediateOptions extends MeshAuthorityOptions {
  /** The identity of the mesh's control plane, as its management plane knows it. */
  readonly uris: readonly string[];
}

/**
 * The certificate of an intermediate, for the key of a request. It vouches for workloads alone (path length 0). Identities come from
 * `options`; a request that asks for any other is refused. Throws InvalidPem.
 */
export async function issueIntermediate(root: KeyedCertificate, request: string, options: IntermediateOptions): Promise<string> {
  const { uris, commonName, organization, now, lifetimeMs } = options;
  const asked = urisOfRequest(request);
  const foreign = asked.find((uri) => !uris.includes(uri));
  if (foreign !== undefined) {
    throw new InvalidPem(
      `the certificate request asks for the identity ${keptText(foreign, 256)}, which is not that of this mesh (${uris.join(", ")}): check who acts as the agent of its cluster; "meshctl cluster revoke" disconnects it`,
    );
  }
  const times = validity(now, lifetimeMs, { authority: certificateFacts(root.certificate), backdatedMs: MESH_BACKDATED_MS });
  const template = { commonName, organization, dnsNames: [], uris, ...times, pathLength: 0, usages: [] } as const;
  return issueForRequest(request, template, root);
}
