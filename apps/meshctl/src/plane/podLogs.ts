import type { ApiServer } from "@isthmus/kubernetes";
import type { Cluster } from "@isthmus/ports";
import type { Io } from "../io.ts";
import { plainText } from "../output/plainText.ts";
import { type ProgramPlace, programPods } from "./programPods.ts";

export interface LogRequest extends ProgramPlace {
  readonly follow: boolean;
  readonly tailLines: number;
}

/** A container whose log is meant. */
export interface LogSource {
  readonly namespace: string;
  readonly pod: string;
  readonly container?: string;
}

/** The containers of a program: the first one of each of its pods. Throws UsageError when there are none. */
export async function logSources(cluster: Cluster, place: ProgramPlace, signal: AbortSignal): Promise<readonly LogSource[]> {
  const pods = await programPods(cluster, place, signal);
  return pods.map(({ metadata, spec }) => {
    const [container] = spec?.containers ?? [];
    return {
      namespace: place.namespace,
      pod: metadata.name,
      ...(container?.name === undefined ? {} : { container: container.name }),
    };
  });
}

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
