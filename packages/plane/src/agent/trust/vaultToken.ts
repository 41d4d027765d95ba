import { type Cluster, ClusterError } from "@isthmus/ports";
import { readSecret } from "../../identity/secretData.ts";
import { AuthorityProblem, type SecretRef } from "./authoritySecrets.ts";

/**
 * The token of Vault in a Secret of the agent's cluster; undefined: there is none. Throws AuthorityProblem for a Secret of another name:
 * a VirtualMesh must not have the other tokens of the agent's namespace sent to Vault.
 */
export async function vaultToken(cluster: Cluster, ref: SecretRef, signal: AbortSignal): Promise<string | undefined> {
  const name = `Secret ${ref.namespace}/${ref.name}`;
  if (!ref.name.startsWith(PREFIX)) {
    throw new AuthorityProblem(
      `tokenSecretRef names ${name}, and agents give Vault only Secrets whose names begin with ${PREFIX}: use ${PREFIX}token`,
    );
  }
  try {
    return (await readSecret(cluster, ref, signal))?.["token"];
  } catch (error) {
    if (!(error instanceof ClusterError) || error.code !== "Forbidden") throw error;
    throw new AuthorityProblem(
      `${name} cannot be read: ${error.message}: name it ${PREFIX}token, which the agent's chart permits, or grant the agent get of it (docs/reference/rbac.md)`,
    );
  }
}

const PREFIX = "vault-";
