import { CertificateRequest, IssuedCertificate } from "@isthmus/api";
import { type AuthorityFacts, earlyProblem, fingerprints, type TrustGeneration } from "@isthmus/certificates";
import { equalJson, kindKeyOf, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import { decodedText } from "../../identity/secretData.ts";
import type { ControlPlanes } from "./meshProxies.ts";

// What a management server orders of the CA of a mesh, as its agent reads it.

/** An order for the CA of one mesh. */
export type Order = IssuedCertificate;
/** The roots that are to be installed. */
export type RootOrder = NonNullable<NonNullable<Order["spec"]>["trust"]> & { readonly signer: string; readonly rootCertificates: string };

/** Orders for one Secret, which several control planes may read, in the order of their names. */
export type SharedOrders = readonly [Order, ...Order[]];

/** The orders among what is ordered. Orders without a Secret stand alone. */
export function ordersBySecret(resources: Iterable<Resource>): readonly SharedOrders[] {
  const groups = new Map<string, SharedOrders>();
  const orders = [...resources].filter((one) => kindKeyOf(one) === kindKeyOf(IssuedCertificate)).flatMap((one) => orderIn(one) ?? []);
  for (const order of orders.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const { name = "", namespace = "" } = order.spec?.issuedCertificateSecret ?? {};
    const key = name === "" ? resourceKeyOf(refOf(order)) : `${namespace}/${name}`;
    const before = groups.get(key);
    groups.set(key, before === undefined ? [order] : [...before, order]);
  }
  return [...groups.values()];
}

/** Whether orders for one Secret want the same of it. */
export function isOneDemand([first, ...others]: SharedOrders): boolean {
  return others.every((one) => equalJson(demandOf(one), demandOf(first)));
}

function demandOf({ spec = {} }: Order): object {
  const { hosts, certOptions, trust = {} } = spec;
  const { step, signer, rootCertificates, reissue, isRenewable, leave, problem } = trust;
  return { hosts, certOptions, step, signer, rootCertificates, reissue, isRenewable, leave, problem };
}

/** What is wrong with orders that want several things of one Secret. */
export function contradictionOf(orders: SharedOrders): string {
  const { name, namespace } = orders[0].spec?.issuedCertificateSecret ?? {};
  const meshes = orders.map(({ metadata }) => metadata.name).join(", ");
  return `Secret ${namespace}/${name} is read by the control planes ${meshes}, of which the management server demands several things: list these meshes in one VirtualMesh`;
}

/** Where the control planes are whose CA is ordered, and the others of the cluster. */
export function controlPlanesOfOrder({ metadata, spec }: Order): ControlPlanes {
  const namespace = spec?.issuedCertificateSecret?.namespace ?? "";
  const { controlPlanes = [], controlPlaneLabels = {} } = spec?.trust ?? {};
  const all = controlPlanes.map(({ name = "", namespace: of = "", labels = {} }) => ({ name, namespace: of, labels }));
  // A server of an earlier version names one alone.
  return { namespace, all: all.length > 0 ? all : [{ name: metadata.name, namespace, labels: controlPlaneLabels }] };
}

function orderIn(resource: Resource): Order | undefined {
  try {
    return IssuedCertificate.parse(resource);
  } catch {
    // A server of another version: what is not understood is not done.
    return undefined;
  }
}

/** The roots that are ordered; undefined as long as there are none. */
export function trustIn({ spec }: Order): RootOrder | undefined {
  const { trust } = spec ?? {};
  const { signer = "", rootCertificates = "" } = trust ?? {};
  return trust === undefined || signer === "" || rootCertificates === "" ? undefined : { ...trust, signer, rootCertificates };
}

/** The answer to the request for an order's CA. */
export function answerIn(order: Order, ordered: ReadonlyMap<string, Resource>): CertificateRequest | undefined {
  const key = resourceKeyOf({ ...refOf(order), apiVersion: CertificateRequest.apiVersion, kind: CertificateRequest.kind });
  const resource = ordered.get(key);
  try {
    return resource === undefined ? undefined : CertificateRequest.parse(resource);
  } catch {
    return undefined;
  }
}

/** Why the CA that was signed waits: by the clock here it is not valid yet. Throws InvalidPem. */
export function earlyAnswer(answer: CertificateRequest | undefined, now: number): string | undefined {
  const { signedCertificate, signingRootCa } = answer?.status ?? {};
  if (signedCertificate === undefined || signingRootCa === undefined) return undefined;
  const problem = earlyProblem([decodedText(signedCertificate), decodedText(signingRootCa)], now);
  return problem && `the CA that was signed is not installed: ${problem}`;
}

/**
 * A text of what a CA is issued with: another one is a reason to issue it again. Without a demand to reissue, the last one stands: that
 * somebody withdraws it is none.
 */
export function optionsOf({ spec }: Order, issuedWith: string | undefined): string {
  const { ttlDays, rsaKeySizeBytes, orgName } = spec?.certOptions ?? {};
  const reissue = spec?.trust?.reissue ?? reissuedWith(issuedWith);
  return JSON.stringify([ttlDays, rsaKeySizeBytes, orgName, spec?.hosts, ...(reissue === undefined ? [] : [reissue])]);
}

/** The demand that a CA was issued on, if any. */
function reissuedWith(issuedWith = "[]"): string | undefined {
  try {
    const [, , , , reissue] = JSON.parse(issuedWith) as readonly unknown[];
    return typeof reissue === "string" ? reissue : undefined;
  } catch {
    // Somebody else wrote there.
    return undefined;
  }
}

/** What the Secret holds once an order is followed. */
export async function orderedGeneration({ rootCertificates, signer }: RootOrder): Promise<readonly TrustGeneration[]> {
  return [{ roots: await fingerprints(rootCertificates), signer, installedAt: 0 }];
}

/** Whether an order, once followed, has proxies trust other roots, or use certificates below another one. */
export async function changesRoots(trust: RootOrder, { roots, signer }: Pick<AuthorityFacts, "roots" | "signer">): Promise<boolean> {
  const ordered = await fingerprints(trust.rootCertificates);
  return trust.signer !== signer || !equalJson([...ordered].sort(), [...roots].sort());
}
