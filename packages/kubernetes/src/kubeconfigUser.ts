import { readFileSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { UsageError } from "@isthmus/core";
import type { Cluster, User } from "@kubernetes/client-node";
import { ExecAuth } from "@kubernetes/client-node/dist/exec_auth.js";
import { type KubeconfigContent, TOKEN_FILE } from "./kubeconfigFile.ts";

/** The entries of a kubeconfig that a request needs. */
export interface Chosen {
  readonly cluster: Cluster | undefined;
  readonly user: User | undefined;
}

/** Gives what the requests of a user need; rejects when a plugin or a file fails. */
export type Present = () => Promise<RequestOptions>;

/**
 * How to be the user of a kubeconfig: what is written in it, or in files, is read here, as are exec plugins with the library's own code.
 * A proxy and the providers of old clouds are left to the library as a whole: it takes 0.4 s to load.
 */
export function presenting(content: KubeconfigContent, { cluster, user }: Chosen): Present {
  if (cluster?.proxyUrl) return byLibrary(content);
  if (user?.exec && !user.authProvider) return byPlugin({ cluster, user });
  if (!user?.authProvider) return async () => written({ cluster, user });
  const file = fileOf(user);
  return file === undefined ? byLibrary(content) : async () => bearing(written({ cluster, user }), readFileSync(file, "utf8"));
}

function fileOf({ authProvider, exec }: User): string | undefined {
  const { name, config = {} } = authProvider as { readonly name?: unknown; readonly config?: Readonly<Record<string, unknown>> };
  const file = config["tokenFile"];
  return name === TOKEN_FILE && typeof file === "string" && !config["exec"] && !exec ? file : undefined;
}

/** What the kubeconfig itself says, and the files that it names. */
function written({ cluster, user }: Chosen): RequestOptions {
  if (cluster?.server.startsWith("http:") && !cluster.skipTLSVerify) {
    throw new UsageError(
      `server ${cluster.server} is not encrypted: write https://, or, if it is a proxy such as kubectl proxy on this machine, set insecure-skip-tls-verify: true for cluster ${cluster.name}`,
    );
  }
  if (user === undefined) return {};
  const ca = bytesOf(cluster?.caFile, cluster?.caData);
  const cert = bytesOf(user.certFile, user.certData);
  const key = bytesOf(user.keyFile, user.keyData);
  return {
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
    ...(user.username ? { auth: `${user.username}:${user.password}` } : {}),
    headers: {
      ...(user.impersonateUser == null ? {} : { "Impersonate-User": user.impersonateUser }),
      ...(user.token ? { Authorization: `Bearer ${user.token}` } : {}),
    },
  };
}

function bearing(options: RequestOptions, token: string): RequestOptions {
  return { ...options, headers: { Authorization: `Bearer ${token}`, ...options.headers } };
}

/** The plugin is asked again when what it gave expires: each kubeconfig keeps its own. */
function byPlugin(chosen: Chosen & { readonly user: User }): Present {
  const plugin = new ExecAuth();
  return async () => {
    const { headers = {}, ...options } = written(chosen);
    const asked: RequestOptions & { headers: Record<string, unknown> } = { ...options, headers: {} };
    // It knows the options of all of Node's protocols; these are those of one.
    await plugin.applyAuthentication(chosen.user, asked as Parameters<ExecAuth["applyAuthentication"]>[1]);
    return { ...asked, headers: { ...asked.headers, ...headers } } as RequestOptions;
  };
}

function byLibrary({ clusters, users, contexts, currentContext }: KubeconfigContent): Present {
  let loading: Promise<Present> | undefined;
  const load = async (): Promise<Present> => {
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    config.loadFromOptions({ clusters: [...clusters], users: [...users], contexts: [...contexts], currentContext });
    return async () => {
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      return options;
    };
  };
  return async () => {
    loading ??= load();
    return (await loading)();
  };
}

/** As the library: the file counts before the text. */
export function bytesOf(file: string | undefined, base64: string | undefined): Buffer | undefined {
  if (file) return readFileSync(file);
  return base64 ? Buffer.from(base64, "base64") : undefined;
}
