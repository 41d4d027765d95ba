import type { Resource, Snapshot } from "@isthmus/core";
import { type GoldenResult, soundTranslation } from "@isthmus/testing";
import { statusesOf, type TranslateOptions } from "../src/index.ts";

interface NetworkingOptions extends Omit<TranslateOptions, "stage" | "offline"> {
  /** Names of clusters. */
  readonly offline?: readonly string[];
}

/** The networking stage as golden files show it: all that is written, all that is found, every status. */
export function translateNetworking(snapshot: Snapshot, { offline = [], ...options }: NetworkingOptions): GoldenResult {
  const world = soundTranslation(snapshot, { ages: "CREATED", ...options, offline: new Set(offline), stage: "networking" });
  const statuses = statusesOf(world).map(({ ref, status }): Resource & { readonly status: object } => {
    const { apiVersion, kind, name, namespace, clusterName } = ref;
    const place = clusterName === "" ? { namespace } : { namespace, clusterName };
    return { apiVersion, kind, metadata: { name, ...place }, status };
  });
  return { outputs: world.networking, reports: world.reports, statuses };
}
