import { type JsonObject, UsageError } from "@isthmus/core";

/** A cluster's API server as a kubeconfig says how to reach it. */
export interface ApiServerAddress {
  readonly server: string;
  /** PEM; undefined: the certificate authorities that the system trusts. */
  readonly ca: string | undefined;
  /** The name that its certificate must bear; undefined: that of the address. */
  readonly tlsServerName?: string;
}

/** The same as a user's kubeconfig says it. */
export interface GivenAddress extends ApiServerAddress {
  /** The user takes any server that answers for the API server. */
  readonly isUnverified: boolean;
}

/** A kubeconfig of one cluster, context and user, all of its name. JSON is YAML. */
export function kubeconfigOf(name: string, { server, ca, tlsServerName }: ApiServerAddress, token: string): string {
  const cluster: JsonObject = {
    server,
    ...(ca === undefined ? {} : { "certificate-authority-data": btoa(ca) }),
    ...(tlsServerName === undefined ? {} : { "tls-server-name": tlsServerName }),
  };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    users: [{ name, user: { token } }],
    "current-context": name,
  });
}

/**
 * The address under which the server reaches an API server, where it is another than the user's; its certificate must be from the same
 * authority and bear the same name. Source: published registration, `--api-server-address`. Throws UsageError, also for an API server that
 * the user's kubeconfig does not verify: the account's token would go to any server that answers.
 */
export function addressFor({ isUnverified, ...address }: GivenAddress, wanted: string | undefined): ApiServerAddress {
  const before = new URL(address.server);
  if (isUnverified || before.protocol !== "https:") {
    throw new UsageError(
      `the kubeconfig does not verify the server certificate of ${address.server}, which the management server requires: use ` +
        "certificate-authority-data instead of insecure-skip-tls-verify, and tls-server-name if the certificate has another name",
    );
  }
  if (wanted === undefined) return address;
  if (!URL.canParse(`https://${wanted}`)) throw new UsageError(`--api-server-address ${wanted}: must be HOST or HOST:PORT`);
  const after = new URL(`https://${wanted}`);
  const port = after.port || (/:\d+$/.test(wanted) ? "" : before.port);
  const server = `https://${after.hostname}${port === "" ? "" : `:${port}`}`;
  const name = address.tlsServerName ?? before.hostname.replace(/^\[|\]$/g, "");
  return { ...address, server, ...(name === after.hostname ? {} : { tlsServerName: name }) };
}
