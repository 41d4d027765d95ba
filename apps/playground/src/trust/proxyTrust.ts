import { createAuthority, createMeshRoot } from "@isthmus/certificates";
import type { Clock } from "@isthmus/core";
import { secretOf } from "@isthmus/plane";
import type { SimulatedCluster } from "@isthmus/simulator";
import type { Logger } from "pino";
import { type SimulatedIstiod, startIstiod } from "./istiod.ts";
import { sameCertificates } from "./pem.ts";

/** A proxy by its address in a cluster. */
export interface ProxyPlace {
  readonly cluster: string;
  readonly address: string;
}

/** The certificates of all proxies of the demo. */
export interface ProxyTrust {
  /** Whether each of two proxies accepts the certificate of the other. One that has none yet is waited for. */
  isMutual(one: ProxyPlace, other: ProxyPlace): boolean;
  /** Whether all proxies trust one root, and have a certificate below it. */
  hasOneRoot(): boolean;
  /** How long the certificate of a proxy is valid, as Istio's agent in its pod says. */
  validityAt(place: ProxyPlace): { readonly secondsLeft: number; readonly endsAt: number } | undefined;
  readonly ended: Promise<void>;
}

/** The root of all meshes of the demo, as its users have made it: a Secret of the management cluster. */
export const DEMO_ROOT = { name: "demo-root", namespace: "gloo-mesh" } as const;

/**
 * Gives each cluster a CA below one root, as a user who reads Istio's pages about several clusters does, and says on each that the management plane may
 * take it over. The root was made most of a year ago and ends within weeks: it counts as expiring, and there is a reason to replace it.
 */
export async function createDemoRoot({
  management,
  workload,
  clock,
}: {
  readonly management: SimulatedCluster;
  readonly workload: readonly SimulatedCluster[];
  readonly clock: Clock;
}): Promise<void> {
  const now = clock.now();
  const root = await createMeshRoot(
    { commonName: "Root of the demo", organization: "Bookinfo", lifetimeMs: ROOT_LIFETIME_MS, now: now - ROOT_AGE_MS },
    "P-256",
  );
  management.load([secretOf(DEMO_ROOT, { "root-cert.pem": root.certificate, "key.pem": root.key })]);
  for (const cluster of workload) {
    const { certificate, key } = await createAuthority(root, { commonName: `CA of ${cluster.name}`, now, usages: [] });
    const ref = { name: "cacerts", namespace: "istio-system" };
    const texts = { "ca-cert.pem": certificate, "ca-key.pem": key, "cert-chain.pem": certificate + root.certificate };
    const secret = secretOf(ref, { ...texts, "root-cert.pem": root.certificate });
    cluster.load([{ ...secret, metadata: { ...ref, annotations: { "isthmus.mesh/adopt": "true" } } }]);
  }
}

/** Runs the istiods of clusters until `signal` is aborted. */
export function startIstiods(
  clusters: readonly SimulatedCluster[],
  options: { readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): ProxyTrust {
  const { clock } = options;
  const istiods = new Map<string, SimulatedIstiod>(clusters.map((cluster) => [cluster.name, startIstiod(cluster, options, signal)]));
  const certificateAt = ({ cluster, address }: ProxyPlace) => istiods.get(cluster)?.certificateAt(address);
  return {
    isMutual(one, other) {
      const [left, right] = [certificateAt(one), certificateAt(other)];
      if (left === undefined || right === undefined) return true;
      const trusts = (roots: readonly string[], signer: string) => roots.some((root) => sameCertificates(root, signer));
      return trusts(left.roots, right.signer) && trusts(right.roots, left.signer);
    },
    hasOneRoot() {
      const all = [...istiods.values()].flatMap(({ certificates }) => [...certificates()]);
      const known = all.flatMap(({ roots, signer }) => [...roots, signer]).map((one) => one.trim());
      return all.length > 0 && new Set(known).size === 1;
    },
    validityAt(place) {
      const found = certificateAt(place);
      return found && { secondsLeft: (found.endsAt - clock.now()) / 1_000, endsAt: found.endsAt };
    },
    ended: Promise.all([...istiods.values()].map(({ ended }) => ended)).then(() => undefined),
  };
}

const DAY_MS = 86_400_000;
// 45 days are left: a root counts as expiring for the last sixth of its life.
const [ROOT_LIFETIME_MS, ROOT_AGE_MS] = [365 * DAY_MS, 320 * DAY_MS];
