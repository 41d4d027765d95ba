import type { TrustGeneration } from "@isthmus/certificates";
import type { RootOrder } from "./certificateOrders.ts";
import type { RestartablePod } from "./podRestarts.ts";

// What the pods of a control plane have read of Secret `cacerts`. Source: specification "trust on real Istio".

/** Of the control plane, what started before the last change. */
export function outdatedPods(controlPlane: readonly RestartablePod[], last: TrustGeneration): readonly RestartablePod[] {
  return controlPlane.filter(({ createdAt }) => createdAt <= last.installedAt + CLOCK_SKEW_MS);
}

/** It reloads by itself what it has read at its start, if the roots are byte for byte the same. Source: specification "trust on real Istio". */
export function reloads(
  controlPlane: readonly RestartablePod[],
  { last, before }: { readonly last: TrustGeneration; readonly before: TrustGeneration | undefined },
): boolean {
  const hasSameRoots = before !== undefined && before.installedAt > 0 && before.roots.join() === last.roots.join();
  return hasSameRoots && controlPlane.every(({ createdAt }) => createdAt > before.installedAt + CLOCK_SKEW_MS);
}

/**
 * Whether a control plane with several roots at a time takes over what was installed last while it runs: it watches what it has read before,
 * and one set of roots contains the other. Source: specification "trust on real Istio".
 */
export function takesOver({ last, before }: { readonly last: TrustGeneration; readonly before: TrustGeneration | undefined }): boolean {
  if (before?.since === undefined || before.installedAt === 0) return false;
  const contains = (one: TrustGeneration, other: TrustGeneration) => other.roots.every((root) => one.roots.includes(root));
  return contains(before, last) || contains(last, before);
}

/** The pods of the control plane that must restart: of a renewal none, which can wait until it is reloaded. */
export function unreadBy(
  controlPlane: readonly RestartablePod[],
  generations: readonly TrustGeneration[],
  step: RootOrder["step"],
): readonly RestartablePod[] {
  const last = generations.at(-1);
  if (last === undefined || last.since !== undefined) return [];
  const before = generations.at(-2);
  const isRenewal = step === "KEEP" || before?.signer === last.signer;
  if (isRenewal && reloads(controlPlane, { last, before })) return [];
  return outdatedPods(controlPlane, last);
}

/** Clocks of nodes and of the agent may differ by as much, in milliseconds; times of objects are whole seconds. */
export const CLOCK_SKEW_MS = 5_000;
