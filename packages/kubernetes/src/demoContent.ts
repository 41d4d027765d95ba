import { existsSync } from "node:fs";
import { join } from "node:path";
import { contentOfFile, type KubeconfigContent } from "./kubeconfigFile.ts";

/** Where a demo that runs in a folder writes how to reach its clusters. */
const DEMO_FILE = ".isthmus/kubeconfig";
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * What a demo that runs in this folder says of a context; undefined without a demo that has such a context. Of a file that lies in whichever folder, only that is
 * taken: tokens for API servers on loopback, and never a program that would be run.
 */
export function demoContent(context: string, folder: string): KubeconfigContent | undefined {
  const path = join(folder, DEMO_FILE);
  if (!existsSync(path)) return undefined;
  const { contexts, clusters, users } = contentOfFile(path);
  const chosen = contexts.find(({ name }) => name === context);
  const cluster = clusters.find(({ name }) => name === chosen?.cluster);
  const user = users.find(({ name }) => name === chosen?.user);
  if (chosen === undefined || cluster === undefined || user?.token === undefined) return undefined;
  if (!URL.canParse(cluster.server) || !LOOPBACK.has(new URL(cluster.server).hostname) || cluster.proxyUrl !== undefined) return undefined;
  return { contexts: [chosen], clusters: [cluster], users: [{ name: user.name, token: user.token }], currentContext: context };
}
