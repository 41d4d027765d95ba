import { UsageError } from "@isthmus/core";
import type { ApiServer } from "@isthmus/kubernetes";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { readPodPage } from "../cluster/podAdminPort.ts";
import { type PodState, type ProgramPlace, programPods } from "./programPods.ts";

/** What several pods answered, and why others did not. */
export interface PodAnswers<T> {
  readonly answers: readonly T[];
  readonly problems: readonly string[];
}

/** What is read of the admin port of a pod, page by page. */
export interface AdminReading<T> {
  readonly read: (page: (path: string) => Promise<string>) => Promise<T>;
  /** Whether each pod would answer the same. */
  readonly isOneEnough?: boolean;
}

/**
 * Reads the admin port of each running pod of a program, through the API server, or of the first that answers. What one pod does not answer leaves
 * the others. Throws the first problem, UsageError or ClusterError, where no pod answers.
 */
export async function podAnswers<T>(
  { cluster, api }: { readonly cluster: Cluster; readonly api: ApiServer },
  { read, isOneEnough = false, ...place }: ProgramPlace & AdminReading<T>,
  signal: AbortSignal,
): Promise<PodAnswers<T>> {
  const pods = await programPods(cluster, place, signal);
  const running = pods.filter(({ status }) => status?.phase === undefined || status.phase === "Running");
  if (running.length === 0) {
    const { name } = (pods[0] as PodState).metadata;
    throw new UsageError(`no pod of it runs: kubectl -n ${place.namespace} describe pod ${name}`);
  }
  const answers: T[] = [];
  const errors: (UsageError | ClusterError)[] = [];
  for (const pod of running) {
    if (isOneEnough && answers.length > 0) break;
    try {
      answers.push(await read((path) => pageOf(api, pod, { path, namespace: place.namespace }, signal)));
    } catch (error) {
      if (!(error instanceof UsageError || error instanceof ClusterError)) throw error;
      // The others would be refused, too.
      if (error instanceof ClusterError && error.code === "Forbidden") throw error;
      errors.push(error);
    }
  }
  const [first] = errors;
  if (first !== undefined && answers.length === 0) throw first;
  return { answers, problems: errors.map(({ message }) => message) };
}

async function pageOf(
  api: ApiServer,
  { metadata: { name }, spec }: PodState,
  { path, namespace }: { readonly path: string; readonly namespace: string },
  signal: AbortSignal,
): Promise<string> {
  const [container] = spec?.containers ?? [];
  if (container?.args?.some((arg) => arg.startsWith("--admin-tls-cert")) === true) {
    throw new UsageError(
      `the admin port of Pod ${namespace}/${name} serves TLS only: pass an address that its certificate is for, with --admin-address https://...`,
    );
  }
  const port = container?.ports?.find((one) => one.name === "stats")?.containerPort ?? DEFAULT_PORT;
  const connection = await api.connectToPod({ namespace, pod: name, port }, signal);
  return readPodPage(connection, { pod: `${namespace}/${name}`, path }, signal);
}

/** Of the programs. */
const DEFAULT_PORT = 9091;
