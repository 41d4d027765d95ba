import { CILIUM_REPORT_NAME, CiliumReport, Mesh } from "@isthmus/api";
import { type Index, type ResourceRef, refOf } from "@isthmus/core";
import { changesOf, versionsOf } from "../incremental/changes.ts";
import type { Translation } from "../pipeline/translate.ts";
import { meshCluster } from "../policy/policyScope.ts";

/** The status of a Mesh: what is in force there, and what is counted of Cilium beside it. */
export function meshStatus(mesh: Mesh, { inputs }: Pick<Translation, "inputs">): object {
  const status = mesh.status ?? {};
  if (mesh.spec?.cilium === undefined) return status;
  const counted = inputs.of(CiliumReport).get({ name: CILIUM_REPORT_NAME, namespace: "", clusterName: meshCluster(mesh) });
  return counted?.status === undefined ? status : { ...status, cilium: counted.status };
}

/** The Meshes beside which something else of Cilium is counted than before. */
export function meshesCountedAnew({ inputs, attached }: Translation, before: Translation | undefined): readonly ResourceRef[] {
  const clusters = new Set(
    [...versionsOf(changesOf(CiliumReport, inputs, before?.inputs))].map(({ metadata }) => metadata.clusterName ?? ""),
  );
  return [...clusters].flatMap((cluster) => attached.of(Mesh).where(byCluster, cluster).map(refOf));
}

const byCluster: Index<Mesh> = (mesh) => [meshCluster(mesh)];
