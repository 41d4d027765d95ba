import type { MeshTrust } from "./trustPlan.ts";

/**
 * Which roots the proxies of a mesh trust, and below which their certificates are. Neither is shown by any API: it follows from what the
 * control plane has read since when, and from how old proxies are. A proxy takes over roots with its certificate, thus when it starts
 * (and later at a time that nobody can see). Source: specification "trust on real Istio".
 */

/** One content of the control plane's Secret. Times are milliseconds since 1970. */
export interface TrustGeneration {
  readonly roots: readonly string[];
  readonly signer: string;
  readonly installedAt: number;
  /** Since when proxies that start have it for certain; undefined: the control plane may not have read it yet. */
  readonly since?: number;
}

/** The proxies of one pod. */
export interface ProxyPod {
  readonly namespace: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** What proxies have in force now. `generations`: from the oldest to the newest, at least one, of which the first is in force somewhere. */
export function trustInForce(generations: readonly TrustGeneration[], pods: readonly ProxyPod[]): MeshTrust["inForce"] {
  const oldest = [lastSince(generations, Number.POSITIVE_INFINITY), ...pods.map(({ createdAt }) => lastSince(generations, createdAt))];
  const possible = generations.slice(Math.min(...oldest));
  const [first, ...others] = possible;
  const trusted = (first?.roots ?? []).filter((root) => others.every(({ roots }) => roots.includes(root)));
  return { trusted, signers: [...new Set(possible.map(({ signer }) => signer))] };
}

/** The pods that may not have what was read last. */
export function podsToRestart<P extends ProxyPod>(generations: readonly TrustGeneration[], pods: readonly P[]): readonly P[] {
  const last = lastSince(generations, Number.POSITIVE_INFINITY);
  const isChange = (from: number) => generations.slice(from, last).some((one) => !isSameTrust(one, generations[last]));
  return pods.filter(({ createdAt }) => isChange(lastSince(generations, createdAt)));
}

/**
 * The generations that some proxy may still have. One that is read and changes no trust is none of its own: certificates are renewed without end.
 * `left`: pods that nobody waits for. Of theirs the oldest stays alone, so that it is known of them that they have an earlier one.
 */
export function generationsInUse(
  generations: readonly TrustGeneration[],
  pods: readonly ProxyPod[],
  left: readonly ProxyPod[] = [],
): readonly TrustGeneration[] {
  const last = lastSince(generations, Number.POSITIVE_INFINITY);
  const start = Math.min(last, ...pods.map(({ createdAt }) => lastSince(generations, createdAt)));
  const startOfLeft = Math.min(last, ...left.map(({ createdAt }) => lastSince(generations, createdAt)));
  const possible = [...(startOfLeft < start ? generations.slice(startOfLeft, startOfLeft + 1) : []), ...generations.slice(start)];
  const kept: TrustGeneration[] = [];
  for (const one of possible) {
    // The last one is not read yet. An earlier one that never was, as it was soon replaced, is of no consequence either if it changed nothing.
    const isAwaited = one.since === undefined && one === possible.at(-1);
    if (isAwaited || !hasSameContent(one, kept.at(-1))) kept.push(one);
  }
  return kept;
}

/**
 * Whether the roots that a control plane hands out are those of what it is thought to have read. If not, another hand has deleted the
 * Secret or put another content there, and what is in force is unknown: a control plane continues with what it has in memory.
 */
export function isHandedOut(generations: readonly TrustGeneration[], handedOut: readonly string[]): boolean {
  const last = generations.at(-1);
  // One that is not read yet: the control plane may have any of those before.
  const possible = last?.since === undefined ? generations : [last];
  return possible.some(({ roots }) => roots.join() === handedOut.join());
}

/** The last generation that proxies had for certain when they started at a moment. */
function lastSince(generations: readonly TrustGeneration[], moment: number): number {
  const found = generations.findLastIndex(({ since }) => since !== undefined && since <= moment);
  return Math.max(found, 0);
}

function isSameTrust(a: TrustGeneration, b: TrustGeneration | undefined): boolean {
  return b !== undefined && a.signer === b.signer && a.roots.length === b.roots.length && a.roots.every((root) => b.roots.includes(root));
}

/** The same roots in the same order: a control plane that has read the one reads the other by itself. */
function hasSameContent(a: TrustGeneration, b: TrustGeneration | undefined): boolean {
  return b?.since !== undefined && a.signer === b.signer && a.roots.join() === b.roots.join();
}
