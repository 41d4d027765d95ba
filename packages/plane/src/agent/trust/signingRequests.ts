import { answerProblem, createMeshRequest, type InstalledAuthority, meshKeyBits } from "@isthmus/certificates";
import { type Clock, equalJson, type Log, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { decodedText } from "../../identity/secretData.ts";
import { AuthorityProblem, forgetPendingKey, pendingKey, type SecretRef } from "./authoritySecrets.ts";
import { answerIn, earlyAnswer, type Order, type RootOrder } from "./certificateOrders.ts";
import type { MeshReport } from "./certificateReports.ts";
import type { ExternalAuthorities } from "./externalAuthorities.ts";

type RequestSubject = Parameters<typeof createMeshRequest>[1];

/** What is asked for with a key that waits in a Secret of this cluster. Methods reject with ClusterError. */
export interface SigningRequests {
  /** The CA that was signed for the key of the request, with its chain; undefined before there is one. */
  answerTo(order: Order, answered: Answered): Promise<InstalledAuthority | undefined>;
  /** What is reported while the management server has not signed. */
  requested(order: Order, request: Requested): Promise<MeshReport>;
  /** The CA that an authority outside signs for the key that waits, or why it does not; undefined: another hand has just made the key. */
  signedOutside(order: Order, signed: Pick<Answered, "trust" | "keyRef">): Promise<InstalledAuthority | string | undefined>;
  /** The key is used: nothing waits for an answer any more. */
  forget(order: Order, keyRef: SecretRef): Promise<void>;
}

interface Answered {
  readonly trust: RootOrder;
  readonly keyRef: SecretRef;
  readonly ordered: ReadonlyMap<string, Resource>;
}

interface Requested extends Pick<Answered, "keyRef" | "ordered"> {
  readonly report: () => Promise<Omit<MeshReport, "state">>;
}

export interface SigningRequestsOptions {
  readonly cluster: Cluster;
  readonly externals: ExternalAuthorities;
  readonly clock: Clock;
  readonly log: Log;
}

/** Without requests; keys that wait are those of the Secrets of `cluster`. */
export function signingRequests({ cluster, externals, clock, log }: SigningRequestsOptions, signal: AbortSignal): SigningRequests {
  /** Signing a request costs the more, the longer its key. */
  const requests = new Map<string, { readonly key: string; readonly subject: RequestSubject; readonly request: string }>();

  /** The CA that was signed for the key of the request, with its chain; undefined before there is one. */
  async function answerTo(
    order: Order,
    {
      trust,
      keyRef,
      ordered,
    }: { readonly trust: RootOrder; readonly keyRef: { name: string; namespace: string }; readonly ordered: ReadonlyMap<string, Resource> },
  ): Promise<InstalledAuthority | undefined> {
    const { signedCertificate, signingRootCa } = answerIn(order, ordered)?.status ?? {};
    if (signedCertificate === undefined || signingRootCa === undefined) return undefined;
    const key = await pendingKey(cluster, keyRef, undefined, signal);
    // The answer for a key of another size than is ordered by now is of no use.
    if (key === undefined || (await meshKeyBits(key)) !== keyBitsOf(order)) return undefined;
    const [certificate, root] = [decodedText(signedCertificate), decodedText(signingRootCa)];
    const request = await requestWith(order, key);
    const problem = await answerProblem({ certificate, root }, { request, key, signer: trust.signer, now: clock.now() });
    if (problem === undefined)
      return { certificate, key, chain: withNewline(certificate) + root, rootCertificates: trust.rootCertificates };
    log.debug({ order: order.metadata.name }, `the answer of the management server is left aside: ${problem}`);
    return undefined;
  }

  async function requested(
    order: Order,
    {
      keyRef,
      ordered,
      report,
    }: {
      keyRef: { name: string; namespace: string };
      ordered: ReadonlyMap<string, Resource>;
      report: () => Promise<Omit<MeshReport, "state">>;
    },
  ): Promise<MeshReport> {
    const key = await pendingKey(cluster, keyRef, keyBitsOf(order), signal);
    const base = await report();
    if (key === undefined) return { state: "PENDING", ...base };
    const answer = answerIn(order, ordered);
    const request = await requestWith(order, key);
    const error = answer?.status?.state === "FAILED" ? answer.status.error : earlyAnswer(answer, clock.now());
    return error !== undefined ? { state: "FAILED", error, request, ...base } : { state: "REQUESTED", request, ...base };
  }

  /** The CA that an authority outside signs for the key that waits, or why it does not; undefined: another hand has just made the key. */
  async function signedOutside(
    order: Order,
    { trust, keyRef }: { readonly trust: RootOrder; readonly keyRef: { name: string; namespace: string } },
  ): Promise<InstalledAuthority | string | undefined> {
    const key = await pendingKey(cluster, keyRef, keyBitsOf(order), signal);
    if (key === undefined) return undefined;
    try {
      return await externals.sign(order, { request: await requestWith(order, key), key, trust }, signal);
    } catch (error) {
      if (!(error instanceof AuthorityProblem)) throw error;
      return error.message;
    }
  }

  async function requestWith(order: Order, key: string): Promise<string> {
    const orderKey = resourceKeyOf(refOf(order));
    const { hosts = [], certOptions, org } = order.spec ?? {};
    const subject: RequestSubject = { commonName: order.metadata.name, organization: certOptions?.orgName || org || "Istio", uris: hosts };
    const known = requests.get(orderKey);
    // While a request waits, the trust domain of the mesh may become another one.
    if (known?.key === key && equalJson(known.subject, subject)) return known.request;
    const request = await createMeshRequest(key, subject);
    requests.set(orderKey, { key, subject, request });
    return request;
  }

  return {
    answerTo,
    requested,
    signedOutside,
    async forget(order, keyRef) {
      await forgetPendingKey(cluster, keyRef, signal);
      requests.delete(resourceKeyOf(refOf(order)));
    },
  };
}

function withNewline(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

function keyBitsOf({ spec }: Order): number {
  return spec?.certOptions?.rsaKeySizeBytes || DEFAULT_KEY_BITS;
}

const DEFAULT_KEY_BITS = 4096;
