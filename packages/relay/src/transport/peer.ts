import type { ServerUnaryCall } from "@grpc/grpc-js";
import { certificateFacts } from "@isthmus/certificates";
import { type PresentedCertificate, uidOf } from "../registration/certificateCheck.ts";
import { clusterOfCertificate } from "../registration/identity.ts";
import type { Peer } from "../session/connection.ts";

type Call = Pick<ServerUnaryCall<unknown, unknown>, "getAuthContext" | "getPeer" | "metadata">;

/** Who a certificate says that a caller is, and what else it says. */
export interface Certified {
  readonly peer: Peer;
  readonly shown: PresentedCertificate;
}

/** Who a call is from, by its certificate. Undefined without one that the TLS library has verified and that names a cluster. */
export function certifiedPeer(call: Call): Certified | undefined {
  // Present only when the certificate's chain, times and purpose were found good.
  const certificate = call.getAuthContext().sslPeerCertificate;
  if (certificate === undefined) return undefined;
  const facts = certificateFacts(new Uint8Array(certificate.raw));
  const clusterName = clusterOfCertificate(facts);
  if (clusterName === undefined) return undefined;
  const times = { issuedAt: facts.notBefore, expiresAt: facts.notAfter };
  const clusterUid = uidOf(facts);
  const uid = clusterUid === undefined ? {} : { clusterUid };
  return {
    peer: { clusterName, ...uid, address: addressOf(call), authentication: "certificate", ...times, ...trustOf(call) },
    shown: facts,
  };
}

/** What a caller says that it trusts. */
export function trustOf(call: Call): Pick<Peer, "trustedRoots"> {
  const trustedRoots = headerOf(call, ROOTS_HEADER);
  return /^[0-9a-f]{32}$/.test(trustedRoots) ? { trustedRoots } : {};
}

/** By this header each end names the set of roots that it goes by, so that agents learn of new ones. */
export const ROOTS_HEADER = "relay-roots";

/** Where a call is from, without its port. */
export function addressOf(call: Call): string {
  return call.getPeer().replace(/:\d+$/, "");
}

/** A header of the call as text; "" when it is absent. */
export function headerOf(call: Call, name: string): string {
  return String(call.metadata.get(name)[0] ?? "");
}
