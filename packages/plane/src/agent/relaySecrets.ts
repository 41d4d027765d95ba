import { Secret } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "../ports.ts";
import { readSecret, secretOf } from "../secretData.ts";

/** Names of the Secrets in the agent's namespace. Source: the seeds. */
const ROOT = "relay-root-tls-secret";
const TOKEN = "relay-identity-token-secret";
const CLIENT = "relay-client-tls-secret";

/** A client certificate with its key and the root it trusts, PEM: the same shape as the relay's own `Credentials`. */
export interface ClientCredentials {
  readonly certificate: string;
  readonly key: string;
  readonly root: string;
}

/** What an agent needs to be let in, read anew whenever it is asked for, so that a changed Secret counts at once. */
export interface AgentSecrets {
  /** The root that the server's certificate must come from. Throws UsageError when it is missing. */
  root(): Promise<string>;
  token(): Promise<string | undefined>;
  readonly credentials: {
    load(): Promise<ClientCredentials | undefined>;
    save(credentials: ClientCredentials): Promise<void>;
  };
}

/** The agent's Secrets in its own cluster. `token` given from outside wins over the Secret. */
export function agentSecrets(
  cluster: Cluster,
  { namespace, token }: { readonly namespace: string; readonly token: string | undefined },
): AgentSecrets {
  const ref = (name: string) => ({ name, namespace });
  return {
    async root() {
      const root = (await readSecret(cluster, ref(ROOT)))?.["ca.crt"];
      if (root === undefined) {
        throw new UsageError(`Secret ${ROOT}.${namespace} with key ca.crt is missing: copy it from the management cluster`);
      }
      return root;
    },
    async token() {
      if (token !== undefined && token !== "") return token;
      return (await readSecret(cluster, ref(TOKEN)))?.["token"]?.trim();
    },
    credentials: {
      async load() {
        const data = await readSecret(cluster, ref(CLIENT));
        const [certificate, key, root] = [data?.["tls.crt"], data?.["tls.key"], data?.["ca.crt"]];
        return certificate === undefined || key === undefined || root === undefined ? undefined : { certificate, key, root };
      },
      async save({ certificate, key, root }) {
        const next = secretOf(ref(CLIENT), { "tls.crt": certificate, "tls.key": key, "ca.crt": root });
        const existing = await cluster.get(Secret, ref(CLIENT));
        if (existing === undefined) {
          await cluster.create({ ...next, metadata: { ...next.metadata, annotations: { [ISSUED_BY]: "relay" } } });
          return;
        }
        if (existing.metadata.annotations?.[ISSUED_BY] !== "relay") {
          throw new ClusterError("Conflict", `Secret ${CLIENT}.${namespace} was not made by this agent: its certificate is used as it is`);
        }
        const { managedFields: _, ...metadata } = existing.metadata;
        await cluster.update({ ...next, metadata });
      },
    },
  };
}

// Tells a certificate that the relay issued, and may renew, from one that a user's own PKI provides.
const ISSUED_BY = "isthmus.mesh/issued-by";
