import type { Kind, LabelSelector, Resource } from "@isthmus/core";
import { UsageError } from "@isthmus/core";
import type { ApiServer } from "@isthmus/kubernetes";
import type { Cluster } from "@isthmus/plane/ports";
import type { Io } from "../io.ts";
import { plainText } from "../output/plainText.ts";
import { type DeploymentState, DeploymentStates, deploymentOf } from "./deployments.ts";

export interface LogRequest {
  readonly program: "server" | "agent";
  readonly namespace: string;
  readonly follow: boolean;
  readonly tailLines: number;
}

interface PodState extends Resource {
  readonly spec?: { readonly containers?: readonly { readonly name?: string }[] };
}

const PodStates: Kind<PodState> = {
  apiVersion: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
  versions: ["v1"],
  parse: (input) => input as PodState,
};

/** A container whose log is meant. */
export interface LogSource {
  readonly namespace: string;
  readonly pod: string;
  readonly container?: string;
}

/** The containers of a program: the first one of each of its pods. Throws UsageError when there are none. */
export async function logSources(cluster: Cluster, { program, namespace }: LogRequest, signal: AbortSignal): Promise<readonly LogSource[]> {
  const { items } = await cluster.list(DeploymentStates, { namespace }, signal);
  const deployment = deploymentOf(program, items) as
    | (DeploymentState & { readonly spec?: { readonly selector?: LabelSelector } })
    | undefined;
  if (deployment?.spec?.selector === undefined) {
    const hint = program === "server" ? "--context selects the management cluster" : "--context selects the cluster of the agent";
    throw new UsageError(
      `no Deployment of ${program === "server" ? "a management server" : "an agent"} in namespace ${namespace}: ${hint}, and --namespace its namespace`,
    );
  }
  const pods = await cluster.list(PodStates, { namespace, labels: deployment.spec.selector }, signal);
  if (pods.items.length === 0) {
    const { name } = deployment.metadata;
    throw new UsageError(`Deployment ${namespace}/${name} has no pods: kubectl -n ${namespace} describe deployment ${name}`);
  }
  return pods.items.slice(0, MOST_PODS).map(({ metadata, spec }) => {
    const [container] = spec?.containers ?? [];
    return { namespace, pod: metadata.name, ...(container?.name === undefined ? {} : { container: container.name }) };
  });
}

// As many as one terminal can show; replicas are a few.
const MOST_PODS = 20;

/** Prints the logs of containers: one after the other, or with `follow` all at once. Lines name their pod where there are several. */
export async function printLogs(
  io: Io,
  {
    api,
    sources,
    follow,
    tailLines,
  }: { readonly api: ApiServer; readonly sources: readonly LogSource[] } & Pick<LogRequest, "follow" | "tailLines">,
  signal: AbortSignal,
): Promise<void> {
  const print = async (source: LogSource): Promise<void> => {
    const lead = sources.length > 1 ? `${source.pod}: ` : "";
    for await (const line of linesOf(api.podLog({ ...source, follow, tailLines }, signal)))
      await io.out(`${lead}${plainText(line, LONGEST_LINE)}\n`);
  };
  if (follow) await Promise.all(sources.map(print));
  else for (const source of sources) await print(source);
}

// A stack trace in JSON is some thousand characters.
const LONGEST_LINE = 16_384;

/** Lines; what is longer than anybody reads comes in pieces. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncIterable<string> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length <= LONGEST_LINE) continue;
    yield rest;
    rest = "";
  }
  if (rest !== "") yield rest;
}
