import { KubernetesCluster } from "@isthmus/api";
import { type Clock, uptimeOf } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { updateRegistration } from "./annotate.ts";
import { WaitTimeout } from "./waitTimeout.ts";

/** What may be written in a cluster (`spec.mode` of its KubernetesCluster). */
export type Mode = "manage" | "observe" | "freeze";

export interface NamedMode {
  readonly cluster: Cluster;
  readonly name: string;
  readonly namespace: string;
  readonly mode: Mode;
}

/** Sets the mode. Objects that were named for mode observe mean nothing in another one, and go. Gives the registration as it was before. */
export function setMode({ cluster, mode, ...ref }: NamedMode, signal: AbortSignal): Promise<KubernetesCluster> {
  return updateRegistration(
    cluster,
    ref,
    (found) => {
      const { managedObjects, ...spec } = found.spec ?? {};
      const kept = mode === "observe" && managedObjects !== undefined ? { managedObjects } : {};
      return { ...found, spec: { ...spec, ...kept, mode } };
    },
    signal,
  );
}

/** Fields of a registration that meshctl writes, and others may apply. */
export type OwnedField = "mode" | "managedObjects" | "trustDomain" | "removed";

/** Who declares a field of the spec by server-side apply, as GitOps controllers do: the same program may set it again. */
export function appliersOf({ metadata }: KubernetesCluster, field: OwnedField): readonly string[] {
  return (metadata.managedFields ?? [])
    .filter(({ operation, fieldsV1 }) => operation === "Apply" && hasField(fieldsV1, field))
    .map(({ manager }) => String(manager ?? ""))
    .filter((manager) => manager !== "");
}

function hasField(fields: unknown, field: string): boolean {
  const spec = (fields as Readonly<Record<string, unknown>> | undefined)?.["f:spec"];
  return typeof spec === "object" && spec !== null && `f:${field}` in spec;
}

/** How a change of mode came out. */
export type ModeOutcome =
  | { readonly is: "acknowledged"; readonly registration: KubernetesCluster }
  /** No agent has ever connected: the first one begins in this mode. */
  | { readonly is: "unregistered" }
  /** The agent, or the cluster, cannot be reached: it continues as before. */
  | { readonly is: "unreachable"; readonly state: string };

/** Waits until the agent has acknowledged a mode, with no write of the mode before it under way. Throws WaitTimeout. */
export async function acknowledgedMode(
  { cluster, name, namespace, mode }: NamedMode,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<ModeOutcome> {
  const until = uptimeOf(clock) + timeoutMs;
  for (;;) {
    const registration = await cluster.get(KubernetesCluster, { name, namespace }, signal);
    const status = registration?.status;
    const state = status?.state ?? "";
    if (state === "REGISTERED") return { is: "unregistered" };
    if (UNREACHABLE.has(state)) return { is: "unreachable", state };
    if (registration !== undefined && status?.mode === mode) return { is: "acknowledged", registration };
    if (uptimeOf(clock) >= until) {
      throw new WaitTimeout(
        `cluster ${name} has not acknowledged mode ${mode} within ${timeoutMs / 1000} s (--timeout): until it does, its agent continues as before. ` +
          `Run "meshctl cluster diagnose ${name}"`,
      );
    }
    await clock.sleep(POLL_MS, signal);
  }
}

const UNREACHABLE: ReadonlySet<string> = new Set(["OFFLINE", "REVOKED", "UNREACHABLE"]);
const POLL_MS = 250;
