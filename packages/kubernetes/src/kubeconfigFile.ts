import { accessSync, readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileProblem, UsageError } from "@isthmus/core";
import type { Cluster, Context, User } from "@kubernetes/client-node";
import { newClusters, newContexts, newUsers } from "@kubernetes/client-node/dist/config_types.js";
import { load } from "js-yaml";

/** What a kubeconfig says, with the names of the library: one file, or several that were put together. */
export interface KubeconfigContent {
  readonly clusters: readonly Cluster[];
  readonly users: readonly User[];
  readonly contexts: readonly Context[];
  readonly currentContext: string;
}

// The library reads kubeconfigs, too, but its reader imports a class for every kind of Kubernetes: 0.4 s of a program's start. The
// entries are still its own.

/** The content of a text, as YAML or JSON. */
export function contentOfText(text: string): KubeconfigContent {
  const read = load(text) as Readonly<Record<string, unknown>>;
  return {
    clusters: newClusters(read["clusters"]),
    contexts: newContexts(read["contexts"]),
    users: newUsers(read["users"]),
    currentContext: read["current-context"] as string,
  };
}

/** The content of a file. The files that it names are beside it. */
export function contentOfFile(path: string): KubeconfigContent {
  const content = contentOfText(readFileSync(path, "utf8"));
  const beside = <K extends string>(key: K, file: string | undefined): { readonly [key in K]?: string } =>
    file ? ({ [key]: isAbsolute(file) ? file : join(dirname(path), file) } as { readonly [key in K]?: string }) : {};
  return {
    ...content,
    clusters: content.clusters.map((cluster) => ({ ...cluster, ...beside("caFile", cluster.caFile) })),
    users: content.users.map((user) => ({ ...user, ...beside("certFile", user.certFile), ...beside("keyFile", user.keyFile) })),
  };
}

/** Of the files in KUBECONFIG, else of ~/.kube/config, else of the pod's service account. Undefined: there is none of them. */
export function defaultContent(env: NodeJS.ProcessEnv = process.env): KubeconfigContent | undefined {
  const files = (env["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
  if (files.length > 0) {
    // As kubectl does: a list may name files that are not there. None of them is a mistake.
    const there = files.filter(exists);
    if (there.length > 0) return there.map(contentOfListed).reduce(merged);
    const [are, them] = files.length === 1 ? ["does", "it"] : ["do", "them"];
    throw new UsageError(
      `${files.join(", ")} ${are} not exist: correct the variable KUBECONFIG, which names ${them}, or pass --kubeconfig`,
    );
  }
  const home = homes(env)
    .map((folder) => join(folder, ".kube", "config"))
    .find(exists);
  if (home !== undefined) return contentOfFile(home);
  return exists(ACCOUNT.token) ? serviceAccountContent(env) : undefined;
}

/** Of several files a message has to say which one it is about. */
function contentOfListed(path: string): KubeconfigContent {
  try {
    return contentOfFile(path);
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof TypeError ? "is not a kubeconfig" : fileProblem(error).split("\n", 1)[0]}`);
  }
}

/** Unlike kubectl, the library lets the last current context win, and refuses an entry that two files have. */
function merged(first: KubeconfigContent, next: KubeconfigContent): KubeconfigContent {
  return {
    clusters: joined("cluster", first.clusters, next.clusters),
    users: joined("user", first.users, next.users),
    contexts: joined("context", first.contexts, next.contexts),
    currentContext: next.currentContext || first.currentContext,
  };
}

function joined<T extends { readonly name: string }>(what: string, first: readonly T[], next: readonly T[]): readonly T[] {
  const all = [...first];
  for (const entry of next) {
    if (all.some(({ name }) => name === entry.name)) throw new Error(`Duplicate ${what}: ${entry.name}`);
    all.push(entry);
  }
  return all;
}

/** Where a user's files may be. */
function homes(env: NodeJS.ProcessEnv): readonly string[] {
  const { HOME = "", HOMEDRIVE = "", HOMEPATH = "", USERPROFILE = "" } = env;
  const onWindows = [HOMEDRIVE !== "" && HOMEPATH !== "" ? join(HOMEDRIVE, HOMEPATH) : "", USERPROFILE];
  return [HOME, ...(process.platform === "win32" ? onWindows : [])].filter((folder) => folder !== "");
}

const ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";
const ACCOUNT = { token: `${ACCOUNT_FOLDER}/token`, ca: `${ACCOUNT_FOLDER}/ca.crt` };

/** A pod's own access to its cluster. */
export function serviceAccountContent(env: NodeJS.ProcessEnv): KubeconfigContent {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" } = env;
  const scheme = ["80", "8080", "8001"].includes(port) ? "http" : "https";
  const server = `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const authProvider = { name: TOKEN_FILE, config: { tokenFile: ACCOUNT.token } };
  return {
    clusters: [{ name: "inCluster", caFile: ACCOUNT.ca, server, skipTLSVerify: false }],
    users: [{ name: "inClusterUser", authProvider }],
    contexts: [{ name: "inClusterContext", cluster: "inCluster", user: "inClusterUser" }],
    currentContext: "inClusterContext",
  };
}

/** The name of the library for a provider of a token that is in a file. */
export const TOKEN_FILE = "tokenFile";

function exists(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}
