import { allKinds } from "@isthmus/api";
import type { AnyResource, Clock, Kind } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { simulatedCluster } from "@isthmus/simulator";
import type { ExitCode, Io } from "../src/io.ts";
import { meshctl, type Outside } from "../src/meshctl.ts";
import { NOW } from "./fleetObjects.ts";
import { expectOutput } from "./outputs/expectOutput.ts";
import { recordedIo } from "./recordedIo.ts";

/** What a command line printed, and its exit code. */
export interface Run {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

/** A management cluster in memory with these objects. `clock`: one whose time passes, for commands that watch. */
export function managementCluster(
  objects: readonly AnyResource[],
  kinds: readonly Kind[] = allKinds(),
  clock: Clock = { now: () => NOW, sleep: async () => undefined },
): Cluster {
  const cluster = simulatedCluster({ name: "", clock, kinds });
  const namespaces = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
  cluster.load([...namespaces].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
  cluster.load(objects);
  return cluster;
}

/** Runs a command line against a management cluster. `columns`: of the terminal; none: a pipe. `ask`: who answers questions; none: nobody. */
export async function runIn(
  cluster: Cluster,
  args: readonly string[],
  columns?: number,
  { ask, ...outside }: Partial<Outside> & Pick<Io, "ask"> = {},
): Promise<Run> {
  const io = { ...recordedIo(), ...(columns === undefined ? {} : { columns }), ask };
  const code = await meshctl(args, io, { connect: async () => cluster, now: () => NOW, ...outside });
  expectOutput(args, io.written.out);
  return { code, ...io.written };
}
