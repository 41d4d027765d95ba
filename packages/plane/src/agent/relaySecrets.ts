import { Secret } from "@isthmus/api";
import { type Clock, type Log, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { readSecret, secretOf, secretTexts } from "../identity/secretData.ts";
import { runReflector } from "../informer/reflector.ts";

/** Names of the Secrets in the agent's namespace. Source: the seeds. */
const ROOT = "relay-root-tls-secret";
const TOKEN = "relay-identity-token-secret";
const CLIENT = "relay-client-tls-secret";

/** A client certificate with its key and the root it trusts, PEM: the same shape as the relay's own `Credentials`. */
export interface ClientCredentials {
  readonly certificate: string;
  readonly key: string;
  readonly root: string;
  /** Somebody else made it: it is used as it is, and neither renewed nor replaced. */
  readonly isProvided?: boolean;
}

/** What an agent needs to be let in, read again whenever it is asked for, so that a changed Secret counts at once. */
export interface AgentSecrets {
  /** The roots that the server's certificate must come from. Throws UsageError when there are none. */
  root(): Promise<string>;
  token(): Promise<string | undefined>;
  readonly credentials: {
    load(): Promise<ClientCredentials | undefined>;
    save(credentials: ClientCredentials): Promise<void>;
  };
  /** Tells of each change of these Secrets, until aborted. */
  watch(changed: () => void, signal: AbortSignal): Promise<void>;
}

export interface AgentSecretsOptions {
  readonly namespace: string;
  /** Wins over the Secret. */
  readonly token: string | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** The agent's Secrets in its own cluster. */
export function agentSecrets(cluster: Cluster, { namespace, token, clock, random, log }: AgentSecretsOptions): AgentSecrets {
  const ref = (name: string) => ({ name, namespace });
  let hasWarned = false;

  /** The root that a user gave the agent at its installation. */
  async function givenRoot(): Promise<string | undefined> {
    const data = await readSecret(cluster, ref(ROOT));
    if (data?.["tls.key"] !== undefined && !hasWarned) {
      hasWarned = true;
      log.warn(
        { secret: ROOT },
        `Secret ${namespace}/${ROOT} contains the private key of the root (tls.key), with which anyone who can read it can impersonate any cluster: ` +
          "remove it. This agent does not issue certificates with it: it registers with a token, or uses relay-client-tls-secret",
      );
    }
    return data?.["ca.crt"];
  }

  return {
    async root() {
      const given = await givenRoot();
      const client = await cluster.get(Secret, ref(CLIENT));
      // Learned from the server over a verified connection since. When a user gives another one, that is the user's last word.
      const isLearned = isIssued(client) && client?.metadata.annotations?.[GIVEN_ROOT] === (await digestOf(given));
      const root = isLearned && client !== undefined ? (secretTexts(client)["ca.crt"] ?? given) : given;
      if (root === undefined) {
        throw new UsageError(`Secret ${namespace}/${ROOT} with key ca.crt is missing: copy it from the management cluster`);
      }
      return root;
    },
    async token() {
      if (token !== undefined && token !== "") return token;
      return (await readSecret(cluster, ref(TOKEN)))?.["token"]?.trim();
    },
    credentials: {
      async load() {
        const found = await cluster.get(Secret, ref(CLIENT));
        const data = found === undefined ? undefined : secretTexts(found);
        const [certificate, key, root] = [data?.["tls.crt"], data?.["tls.key"], data?.["ca.crt"]];
        if (certificate === undefined || key === undefined) return undefined;
        // A user's own need not repeat the root.
        if (!isIssued(found)) return { certificate, key, root: root ?? "", isProvided: true };
        return root === undefined ? undefined : { certificate, key, root };
      },
      async save({ certificate, key, root }) {
        const next = secretOf(ref(CLIENT), { "tls.crt": certificate, "tls.key": key, "ca.crt": root });
        const annotations = { [ISSUED_BY]: "relay", [GIVEN_ROOT]: await digestOf(await givenRoot()) };
        const existing = await cluster.get(Secret, ref(CLIENT));
        if (existing === undefined) {
          await cluster.create({ ...next, metadata: { ...next.metadata, annotations } });
          return;
        }
        if (!isIssued(existing)) {
          throw new ClusterError(
            "Conflict",
            `Secret ${namespace}/${CLIENT} was not created by this agent: its certificate is used and not renewed`,
          );
        }
        const { managedFields: _, ...metadata } = existing.metadata;
        await cluster.update({ ...next, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } });
      },
    },
    // Each by its name: the agent may read no other Secret.
    watch: (changed, signal) =>
      Promise.all(
        [ROOT, TOKEN, CLIENT].map((name) =>
          runReflector(
            {
              cluster,
              kind: Secret,
              list: { namespace, name },
              clock,
              random,
              emit(event) {
                if (event.type === "listed" || event.type === "put" || event.type === "removed") changed();
              },
            },
            signal,
          ),
        ),
      ).then(() => undefined),
  };
}

// Tells a certificate that the relay issued, and may renew, from one that a user's own PKI provides.
const ISSUED_BY = "isthmus.mesh/issued-by";

// Digest of the root that a user had given when the certificate was issued.
const GIVEN_ROOT = "isthmus.mesh/given-root";

function isIssued(secret: Secret | undefined): boolean {
  return secret?.metadata.annotations?.[ISSUED_BY] === "relay";
}

async function digestOf(text = ""): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text.trim()));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
