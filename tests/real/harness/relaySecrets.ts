import { Secret } from "@isthmus/api";
import type { Cluster } from "@isthmus/ports";
import { applyAll } from "./manifests.ts";
import { waitFor } from "./waitFor.ts";

/** Copies what an agent needs to be let in, as an installer does, once the management server has made it. */
export async function giveRelaySecrets(management: Cluster, cluster: Cluster): Promise<void> {
  for (const name of ["relay-root-tls-secret", "relay-identity-token-secret"]) {
    const { apiVersion, kind, type, data } = await waitFor(`Secret ${name}`, () =>
      management.get(Secret, { name, namespace: "gloo-mesh" }),
    );
    await applyAll(cluster, [{ apiVersion, kind, metadata: { name, namespace: "gloo-mesh" }, type, data }]);
  }
}
