import { type Index, keyOf, keyOfResource } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { Destination, IssuedCertificate, type Mesh, Workload } from "../data/kinds.ts";
import { clusterOf } from "./clusters/clusterOf.ts";

/** What a mesh brings into a VirtualMesh. */
export interface MeshMember {
  readonly workloads: number;
  readonly destinations: number;
  /** SHA-256 of each root in the `root-cert.pem` of its control plane, in hex; none: its agent has not said. */
  readonly roots: readonly string[];
}

/** Counts and roots of a mesh, out of what its cluster reports. */
export function meshMember({ snapshot }: Fleet, mesh: Mesh): MeshMember {
  const key = keyOfResource(mesh);
  // The same request stands in the management cluster, without what the agent says.
  const installed = snapshot.of(IssuedCertificate).where(CERTIFICATES_BY_MESH, `${mesh.metadata.name} ${clusterOf(mesh)}`);
  return {
    workloads: snapshot.of(Workload).where(WORKLOADS_BY_MESH, key).length,
    destinations: snapshot.of(Destination).where(DESTINATIONS_BY_MESH, key).length,
    roots: [...new Set(installed.flatMap(({ status }) => status?.installed?.roots ?? []))].sort(),
  };
}

const WORKLOADS_BY_MESH: Index<Workload> = ({ spec }) => meshKeys(spec?.mesh);
const DESTINATIONS_BY_MESH: Index<Destination> = ({ spec }) => meshKeys(spec?.mesh);
const CERTIFICATES_BY_MESH: Index<IssuedCertificate> = ({ metadata }) => [`${metadata.name} ${metadata.clusterName ?? ""}`];

function meshKeys(
  ref: { readonly name?: string; readonly namespace?: string; readonly clusterName?: string } | undefined,
): readonly string[] {
  return ref?.name === undefined ? [] : [keyOf({ name: ref.name, namespace: ref.namespace ?? "", clusterName: ref.clusterName ?? "" })];
}

/** The first bytes of a fingerprint, as people compare them: `3F:9A:…`. */
export function shortFingerprint(hex: string): string {
  const digits = hex.slice(0, 2 * BYTES).toUpperCase();
  const bytes = Array.from({ length: Math.ceil(digits.length / 2) }, (_, i) => digits.slice(2 * i, 2 * i + 2));
  return `${bytes.join(":")}${hex.length > 2 * BYTES ? ":…" : ""}`;
}

const BYTES = 6;
