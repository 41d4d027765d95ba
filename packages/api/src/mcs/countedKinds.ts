import { countedKind } from "../shared/countedKind.ts";

const VERSIONS = ["multicluster.x-k8s.io/v1alpha1", "multicluster.x-k8s.io/v1beta1"];

/** Which Services are to be called from other clusters, by others than this plane. Source: multicluster.sigs.k8s.io/concepts/multicluster-services-api. */
export const COUNTED_MCS_KINDS = [
  countedKind("ServiceExport", "serviceexports", VERSIONS),
  countedKind("ServiceImport", "serviceimports", VERSIONS),
] as const;
