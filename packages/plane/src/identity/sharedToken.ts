import { Secret } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { randomText } from "../runtime/randomText.ts";
import { RELAY_SECRETS, tokenIn } from "./relaySecrets.ts";
import { readSecret, secretOf } from "./secretData.ts";

interface Place {
  /** Of the management plane. */
  readonly namespace: string;
}

/** Puts a new shared token into its Secret, which a running server follows. The one before opens nothing from then on. */
export async function rotateSharedToken(cluster: Cluster, { namespace }: Place): Promise<void> {
  const ref = { name: RELAY_SECRETS.token, namespace };
  for (let attempt = 1; ; attempt++) {
    const made = secretOf(ref, { token: randomText(43) });
    const found = await cluster.get(Secret, ref);
    try {
      if (found === undefined) {
        await cluster.create(made);
      } else {
        const { managedFields: _, ...metadata } = found.metadata;
        const next: Secret = { ...found, metadata, data: { ...found.data, ...made.data } };
        await cluster.update(next);
      }
      return;
    } catch (error) {
      const isRace = error instanceof ClusterError && (error.code === "Conflict" || error.code === "AlreadyExists");
      if (!isRace || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

/**
 * The Secrets that an agent needs in its own namespace to be let in: the root that it knows the server by, and a token; the shared
 * one unless another is given. Throws UsageError when the management cluster does not have them.
 */
export async function secretsToJoin(
  cluster: Cluster,
  { namespace, agentNamespace, token }: Place & { readonly agentNamespace: string; readonly token?: string },
): Promise<readonly Secret[]> {
  const given = token ?? tokenIn((await readSecret(cluster, { name: RELAY_SECRETS.token, namespace })) ?? {}, namespace);
  const root =
    (await readSecret(cluster, { name: RELAY_SECRETS.root, namespace }))?.["ca.crt"] ??
    (await readSecret(cluster, { name: RELAY_SECRETS.server, namespace }))?.["ca.crt"];
  if (root === undefined) {
    throw new UsageError(
      `Secret ${namespace}/${RELAY_SECRETS.root} in the management cluster does not have the key ca.crt, with which agents verify the server: start the management server once, or add your own root certificate`,
    );
  }
  return [
    secretOf({ name: RELAY_SECRETS.root, namespace: agentNamespace }, { "ca.crt": root }),
    secretOf({ name: RELAY_SECRETS.token, namespace: agentNamespace }, { token: given }),
  ];
}

const MOST_ATTEMPTS = 10;
