import type { Agent } from "node:http";
import type { RequestOptions } from "node:https";
import { fileProblem, messageOf, UsageError } from "@isthmus/core";
import { bufferFromFileOrString, KubeConfig } from "@kubernetes/client-node";

/** Where a kubeconfig comes from. Neither `path` nor `text`: KUBECONFIG, then ~/.kube/config, then the pod's service account. */
export interface KubeconfigSource {
  readonly path?: string;
  /** The kubeconfig itself, as YAML or JSON. */
  readonly text?: string;
  /** Defaults to the current context. */
  readonly context?: string;
}

/** One cluster as a kubeconfig describes it. */
export interface Kubeconfig {
  /** The API server, perhaps with a path, without a trailing slash. */
  readonly server: string;
  /**
   * Whom to be. Files that hold a token or certificate are read each time; with `refused`, when the last ones were refused,
   * the kubeconfig too is read anew and an exec plugin runs again. Rejects with UsageError.
   */
  credentials(refused: boolean): Promise<ApiCredentials>;
}

/** What to present to an API server, and what to expect of it. */
export interface ApiCredentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsSettings;
  /** Set when the kubeconfig names a proxy. */
  readonly proxy?: Agent;
}

export type TlsSettings = Pick<RequestOptions, "ca" | "cert" | "key" | "rejectUnauthorized" | "servername">;

/** Reads a kubeconfig. Throws UsageError when there is none, or when it does not say which cluster is meant. */
export function loadKubeconfig(source: KubeconfigSource = {}): Kubeconfig {
  const place = source.text !== undefined ? "the given kubeconfig" : source.path === undefined ? "kubeconfig" : `kubeconfig ${source.path}`;
  let config = contextOf(source, place);
  return {
    server: serverOf(config, place),
    credentials: async (refused) => {
      if (refused) config = contextOf(source, place);
      return credentialsOf(config, place);
    },
  };
}

function contextOf(source: KubeconfigSource, place: string): KubeConfig {
  const config = read(source, place);
  if (source.context !== undefined) {
    const contexts = config.getContexts().map(({ name }) => name);
    if (!contexts.includes(source.context)) {
      throw new UsageError(`${place}: context ${source.context} not found; available contexts: ${contexts.join(", ") || "none"}`);
    }
    config.setCurrentContext(source.context);
  }
  return config;
}

function serverOf(config: KubeConfig, place: string): string {
  const cluster = config.getCurrentCluster();
  if (!cluster)
    throw new UsageError(`${place}: select a context (the current-context, ${config.getCurrentContext() || "none"}, has no cluster)`);
  if (!URL.canParse(cluster.server)) throw new UsageError(`${place}: cluster ${cluster.name}: server ${cluster.server} is not a URL`);
  return cluster.server.replace(/\/+$/, "");
}

function read(source: KubeconfigSource, place: string): KubeConfig {
  const config = new KubeConfig();
  try {
    if (source.text !== undefined) config.loadFromString(source.text);
    else if (source.path !== undefined) config.loadFromFile(source.path);
    else config.loadFromDefault();
  } catch (error) {
    throw new UsageError(`${place}: ${error instanceof TypeError ? "is not a kubeconfig" : fileProblem(error).split("\n", 1)[0]}`);
  }
  // What the library makes up when it finds nothing at all.
  if (source.path === undefined && source.text === undefined && config.getCurrentContext() === "loaded-context") {
    throw new UsageError("no kubeconfig found: set KUBECONFIG, use --kubeconfig, or run in a pod with a service account");
  }
  return config;
}

async function credentialsOf(config: KubeConfig, place: string): Promise<ApiCredentials> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    throw new UsageError(`${place}: cannot get credentials: ${messageOf(error).trim()}`);
  }
  const cluster = config.getCurrentCluster();
  // The library skips the cluster's settings when the context has no user.
  const ca = options.ca ?? (cluster ? bufferFromFileOrString(cluster.caFile, cluster.caData) : null);
  const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value).trim()]);
  const basic = options.auth ? { authorization: `Basic ${Buffer.from(options.auth).toString("base64")}` } : {};
  return {
    headers: { ...basic, ...Object.fromEntries(headers) },
    tls: {
      ...(ca ? { ca } : {}),
      ...(options.cert ? { cert: options.cert } : {}),
      ...(options.key ? { key: options.key } : {}),
      ...(cluster?.skipTLSVerify ? { rejectUnauthorized: false } : {}),
      ...(cluster?.tlsServerName ? { servername: cluster.tlsServerName } : {}),
    },
    ...(cluster?.proxyUrl && typeof options.agent === "object" ? { proxy: options.agent } : {}),
  };
}
