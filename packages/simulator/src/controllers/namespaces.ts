import { refOf } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import { untypedKind } from "../kinds.ts";
import type { SimulatedController } from "./controller.ts";
import { SimulatedNamespace } from "./workloads.ts";

/** Empties namespaces that are being deleted. */
export const namespaceController: SimulatedController = {
  name: "namespaces",
  reads: [SimulatedNamespace],
  *affected({ after }) {
    if (after?.metadata.deletionTimestamp !== undefined) yield refOf(after);
  },
  async reconcile(ref, { cluster, snapshot }, signal) {
    if (snapshot.of(SimulatedNamespace).get(ref)?.metadata.deletionTimestamp === undefined) return;
    for (const served of await cluster.servedKinds(signal)) {
      if (!served.namespaced) continue;
      const { items } = await cluster.list(untypedKind(served), { namespace: ref.name }, signal).catch(unlistable);
      for (const item of items) {
        if (item.metadata.deletionTimestamp === undefined) await cluster.delete(refOf(item), {}, signal).catch(unlessGone);
      }
    }
  },
};

/** Some kinds can only be asked about, such as reviews of access. */
function unlistable(error: unknown): { readonly items: readonly [] } {
  if (error instanceof ClusterError && error.code === "Unserved") return { items: [] };
  throw error;
}

function unlessGone(error: unknown): void {
  if (!(error instanceof ClusterError) || error.code !== "NotFound") throw error;
}
