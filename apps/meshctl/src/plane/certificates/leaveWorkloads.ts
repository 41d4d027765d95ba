import { X509Certificate } from "node:crypto";
import type { VirtualMesh } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { isWorkloadName, leaveAnnotation, leaveText, leftWorkloads, MOST_LEFT } from "@isthmus/plane/installation";
import type { Cluster } from "@isthmus/ports";
import { changeVirtualMesh } from "./changeVirtualMesh.ts";
import type { Entry } from "./entries.ts";

/** Workloads that are to be left out of the change of root that is running. */
export interface Leaving {
  readonly mesh: string;
  readonly virtualMesh: string;
  readonly workloads: readonly string[];
  /** SHA-256 of the root that the change leads to. */
  readonly root: string;
  /** What it costs, one sentence a line. */
  readonly costs: readonly string[];
}

/** What leaving workloads out of the change of root of a mesh means. Throws UsageError where there is nothing to leave. */
export function leavingOf(entry: Entry, entries: readonly Entry[], workloads: readonly string[]): Leaving {
  const { use, name, virtualMesh, cluster, forecast } = entry;
  const what = `${use}/${name}`;
  const wrong = workloads.find((one) => !isWorkloadName(one));
  if (wrong !== undefined) throw new UsageError(`--leave ${wrong}: give NAMESPACE/WORKLOAD, such as bookinfo/ratings-v1`);
  if (workloads.length > MOST_LEFT) throw new UsageError(`--leave: at most ${MOST_LEFT} workloads of a mesh can be left out`);
  if (use !== "meshIntermediate") {
    throw new UsageError(`${what} is not the CA of one mesh: name the mesh of the workload, such as ${meshesOf(entry, entries)}`);
  }
  if (virtualMesh === undefined || virtualMesh.includes(" "))
    throw new UsageError(`${what}: its VirtualMesh is not in the management cluster`);
  const { step, state, controlPlaneNamespace } = forecast ?? {};
  if (step === undefined || (step === "KEEP" && state === "FINISHED")) {
    throw new UsageError(`${what}: no change of root is running: there is nothing to leave a workload out of`);
  }
  const root = rootOf(virtualMesh, entries);
  if (root === undefined) throw new UsageError(`${what}: the root of VirtualMesh ${virtualMesh} is not known to the server: try again`);
  const list = workloads.join(", ");
  const costs = [
    `Workloads of cluster ${cluster} that are left out of the change of root of mesh ${name}, which is at step ${step}: ${list}`,
    `The change continues without them: their pods are neither restarted nor waited for, and keep their certificates and roots until you restart them.`,
    ...brokenCalls(step),
    "Kept connections, and calls without mutual TLS, continue. A proxy also takes over what its mesh has when it renews its certificate by itself, by default within 12 hours.",
    `A control plane in namespace ${controlPlaneNamespace} cannot be left out: a workload with that name is without effect.`,
  ];
  return { mesh: name, virtualMesh, workloads, root, costs };
}

/** Which calls fail of pods that do not restart any more. Source: specification "trust on real Istio"; docs/decisions/0058. */
function brokenCalls(step: string): readonly string[] {
  const failing =
    "every new connection by mutual TLS between these pods and all pods of the VirtualMesh that have restarted since fails, in both directions and in all of its clusters";
  if (step === "TRUST_BOTH") {
    return [
      `Pods that have not restarted in this step trust the old root alone. From step REISSUE on, pod by pod, and after the last step without exception, ${failing}.`,
      `Pods that have restarted in this step trust both roots and have a certificate of the old one. After the last step, RETIRE, ${failing}.`,
    ];
  }
  if (step === "REISSUE") {
    return [
      `Pods that have not restarted in this step keep a certificate of the old root. After the last step, RETIRE, ${failing}.`,
      "Pods that have restarted in this step have a certificate of the new root: none of their calls fails, and they continue to trust the old root.",
    ];
  }
  return [
    "Their certificates are of the new root: none of their calls fails. They continue to trust the old root: with its key anybody can pose as any identity to them.",
  ];
}

/** Orders it by an annotation of the VirtualMesh. Gives what was ordered, for users. */
export function leaveWorkloads(cluster: Cluster, { mesh, virtualMesh, workloads, root }: Leaving, signal: AbortSignal): Promise<string> {
  const change = (found: VirtualMesh) => {
    const key = leaveAnnotation(mesh);
    const before = leftWorkloads(found, mesh);
    // What was left out of another change is none of this one.
    const all = [...new Set([...(before?.root === root ? before.workloads : []), ...workloads])].sort();
    if (all.length > MOST_LEFT) throw new UsageError(`--leave: ${all.length} workloads would be left out, at most ${MOST_LEFT} can be`);
    const metadata = { ...found.metadata, annotations: { ...found.metadata.annotations, [key]: leaveText({ workloads: all, root }) } };
    return {
      next: { ...found, metadata },
      ordered: `${all.join(", ")} left out of this change of root (remove annotation ${key} to undo it)`,
    };
  };
  return changeVirtualMesh(cluster, virtualMesh, change, signal);
}

/** Annotations without what was left out of a change that is over: the same root may come again. */
export function withoutLeaving(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith(leaveAnnotation(""))));
}

function meshesOf({ virtualMesh }: Entry, entries: readonly Entry[]): string {
  const names = entries.filter((one) => one.use === "meshIntermediate" && one.virtualMesh === virtualMesh);
  return (
    names
      .slice(0, 3)
      .map(({ name }) => `meshIntermediate/${name}`)
      .join(" or ") || "meshIntermediate/MESH"
  );
}

/** Of a root that the agents of several meshes read, only if they agree: otherwise the server moves to none. */
function rootOf(virtualMesh: string, entries: readonly Entry[]): string | undefined {
  const found = entries.filter((one) => ROOTS.has(one.use) && one.virtualMesh === virtualMesh).map(({ certificate }) => certificate);
  const [first, ...others] = found.map((pem) => (pem === undefined ? undefined : fingerprintOf(pem)));
  return others.every((one) => one === first) ? first : undefined;
}

function fingerprintOf(pem: string): string | undefined {
  try {
    return new X509Certificate(pem).fingerprint256.replaceAll(":", "").toLowerCase();
  } catch {
    // Not a certificate: the same as none.
    return undefined;
  }
}

const ROOTS: ReadonlySet<string> = new Set(["meshRoot", "externalRoot"]);
