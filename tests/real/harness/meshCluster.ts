import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { startControllers } from "@isthmus/simulator";
import { clock, silent } from "./clusters.ts";
import { type Components, istioBookinfo, istioCrds } from "./components.ts";
import { istioInstallation, namespace } from "./istioInstallation.ts";
import { applyAll, installMissingCrds, objectsIn } from "./manifests.ts";

const CRDS = fileURLToPath(new URL("../../../deploy/crds", import.meta.url));

/** Puts Istio and Bookinfo into a cluster, as far as discovery sees them, with controllers that bring them to life until aborted. */
export async function fillMeshCluster(
  cluster: Cluster,
  components: Components,
  signal: AbortSignal,
): Promise<{ readonly ended: Promise<void> }> {
  await installMissingCrds(cluster, ourCrds());
  await applyAll(cluster, [namespace("gloo-mesh")]);
  return fillIstioCluster(cluster, components, signal);
}

/** The same without anything of ours: the namespace and the CRDs of the management plane. */
export async function fillIstioCluster(
  cluster: Cluster,
  components: Components,
  signal: AbortSignal,
): Promise<{ readonly ended: Promise<void> }> {
  await installMissingCrds(cluster, meshCrds(components));
  const ended = startControllers(cluster, { clock, log: silent }, signal);
  await applyAll(cluster, istioInstallation({ trustDomain: cluster.name }));
  await applyAll(cluster, [namespace("bookinfo", { injection: true })]);
  await applyAll(cluster, objectsIn(istioBookinfo(components)), { namespace: "bookinfo" });
  return { ended };
}

/** The CRDs of our kinds, as they are delivered. */
export function ourCrds(): readonly AnyResource[] {
  return readdirSync(CRDS).flatMap((file) => objectsIn(readFileSync(`${CRDS}/${file}`, "utf8")));
}

/** Istio's. */
export function meshCrds(components: Components): readonly AnyResource[] {
  return objectsIn(istioCrds(components)).filter(({ kind }) => kind === "CustomResourceDefinition");
}
