import type { Agent } from "node:http";
import type { RequestOptions } from "node:https";
import { fileProblem, messageOf, UsageError } from "@isthmus/core";
import { demoContent } from "./demoContent.ts";
import { contentOfFile, contentOfText, defaultContent, type KubeconfigContent } from "./kubeconfigFile.ts";
import { bytesOf, type Chosen, type Present, presenting } from "./kubeconfigUser.ts";

/**
 * Where a kubeconfig comes from. Neither `path` nor `text`: KUBECONFIG, then ~/.kube/config, then the pod's service account; a context that is there nowhere is
 * looked for in the demo that runs in this folder.
 */
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
   * the kubeconfig too is read again and an exec plugin runs again. Rejects with UsageError.
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

/** A kubeconfig with several contexts. */
export interface ContextKubeconfig extends Kubeconfig {
  /** The name of the context that counts. */
  readonly context: string;
}

/** Reads a kubeconfig. Throws UsageError when there is none, or when it does not say which cluster is meant. */
export function loadKubeconfig(source: KubeconfigSource = {}): ContextKubeconfig {
  const place = source.text !== undefined ? "the given kubeconfig" : source.path === undefined ? "kubeconfig" : `kubeconfig ${source.path}`;
  let access = accessOf(source, place);
  return {
    context: access.context,
    server: serverOf(access, place),
    credentials: async (refused) => {
      if (refused) access = accessOf(source, place);
      return credentialsOf(access, place);
    },
  };
}

/** The context that is meant, and how to be its user. */
interface Access extends Chosen {
  readonly context: string;
  readonly present: Present;
}

function accessOf(source: KubeconfigSource, place: string): Access {
  const content = read(source, place);
  const { contexts, clusters, users } = content;
  const names = contexts.map(({ name }) => name);
  if (source.context !== undefined && !names.includes(source.context)) {
    throw new UsageError(`${place}: context ${source.context} not found; available contexts: ${names.join(", ") || "none"}`);
  }
  const currentContext = source.context ?? content.currentContext;
  const context = contexts.find(({ name }) => name === currentContext);
  const user = context?.user ?? "";
  if (user !== "" && !users.some(({ name }) => name === user)) {
    const available = users.map(({ name }) => name).join(", ") || "none";
    throw new UsageError(`${place}: context ${currentContext} names user ${user}, which is not in it; available users: ${available}`);
  }
  const chosen = {
    cluster: context && clusters.find(({ name }) => name === context.cluster),
    user: context && users.find(({ name }) => name === context.user),
  };
  return { ...chosen, context: currentContext, present: presenting({ ...content, currentContext }, chosen) };
}

function serverOf({ cluster, context }: Access, place: string): string {
  if (!cluster) throw new UsageError(`${place}: select a context (the current-context, ${context || "none"}, has no cluster)`);
  if (!URL.canParse(cluster.server)) throw new UsageError(`${place}: cluster ${cluster.name}: server ${cluster.server} is not a URL`);
  return cluster.server.replace(/\/+$/, "");
}

function read(source: KubeconfigSource, place: string): KubeconfigContent {
  const content = readOrRefuse(source, place);
  // The clusters of a demo that runs here have names of their own, which count only where the user's kubeconfig has no such context.
  if (source.context !== undefined && isDefault(source) && !content?.contexts.some(({ name }) => name === source.context)) {
    const demo = demoContent(source.context, process.cwd());
    if (demo !== undefined) return demo;
  }
  if (content === undefined)
    throw new UsageError("no kubeconfig found: set KUBECONFIG, use --kubeconfig, or run in a pod with a service account");
  return content;
}

function isDefault({ text, path }: KubeconfigSource): boolean {
  return text === undefined && path === undefined;
}

function readOrRefuse({ text, path }: KubeconfigSource, place: string): KubeconfigContent | undefined {
  try {
    if (text !== undefined) return contentOfText(text);
    return path === undefined ? defaultContent() : contentOfFile(path);
  } catch (error) {
    throw new UsageError(`${place}: ${error instanceof TypeError ? "is not a kubeconfig" : fileProblem(error).split("\n", 1)[0]}`);
  }
}

async function credentialsOf({ cluster, present }: Access, place: string): Promise<ApiCredentials> {
  const options = await presented(present, place);
  // What a kubeconfig says of its cluster holds for a context without user, too.
  const ca = options.ca ?? bytesOf(cluster?.caFile, cluster?.caData);
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

async function presented(present: Present, place: string): Promise<RequestOptions> {
  try {
    return await present();
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${place}: ${error.message}`);
    throw new UsageError(`${place}: cannot get credentials: ${messageOf(error).trim()}`);
  }
}
