import type { Condition } from "@isthmus/core";
import type { CertificateEntry } from "./certificateInventory.ts";

/** The condition CertificateExpiring of each VirtualMesh whose trust we keep, by `namespace/name`. */
export function trustExpiring(entries: readonly CertificateEntry[]): ReadonlyMap<string, readonly Condition[]> {
  const byVirtualMesh = new Map<string, CertificateEntry[]>();
  for (const entry of entries) {
    const { virtualMesh } = entry;
    if (virtualMesh !== undefined) byVirtualMesh.set(virtualMesh, [...(byVirtualMesh.get(virtualMesh) ?? []), entry]);
  }
  return new Map([...byVirtualMesh].map(([name, own]) => [name, [conditionOf(own)]]));
}

function conditionOf(entries: readonly CertificateEntry[]): Condition {
  const type = "CertificateExpiring";
  const bad = entries.filter(({ state }) => state === "EXPIRING" || state === "EXPIRED").sort(byEnd);
  const [first] = bad;
  if (first !== undefined) {
    const named = bad.slice(0, MOST_NAMED).map(sentenceOf);
    const more = bad.length > MOST_NAMED ? [`and ${bad.length - MOST_NAMED} more: meshctl cert list`] : [];
    const reason = bad.some(({ state }) => state === "EXPIRED") ? "Expired" : "RenewalOverdue";
    return { type, status: "True", reason, message: [...named, ...more].join("; ") };
  }
  const [next] = entries.filter(({ notAfter }) => notAfter !== undefined).sort(byEnd);
  if (next === undefined) return { type, status: "Unknown", reason: "NotReported", message: "no agent has reported a certificate yet" };
  // By day: a condition is written when it changes.
  return {
    type,
    status: "False",
    reason: "RenewedInTime",
    message: `the first of ${entries.length} ends on ${next.notAfter?.slice(0, 10)}: ${nameOf(next)}`,
  };
}

function sentenceOf(entry: CertificateEntry): string {
  const { state, notAfter, use, next, cluster } = entry;
  const remedy =
    use === "meshRoot" || use === "externalRoot"
      ? next
      : `it was not renewed: check the agent of ${cluster}, and that the root does not end before (meshctl cert list)`;
  return `${nameOf(entry)} ${state === "EXPIRED" ? "expired" : "expires"} at ${notAfter}: ${remedy}`;
}

function nameOf({ use, name, namespace, cluster }: CertificateEntry): string {
  if (use === "meshRoot") return `the root in Secret ${namespace}/${name}`;
  if (use === "externalRoot") return `the root that the agent of ${cluster} reads for Mesh ${name}`;
  return `the CA of Mesh ${name} in Secret ${namespace}/cacerts of ${cluster}`;
}

function byEnd(a: CertificateEntry, b: CertificateEntry): number {
  return (a.notAfter ?? "") < (b.notAfter ?? "") ? -1 : 1;
}

const MOST_NAMED = 3;
