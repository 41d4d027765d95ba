import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Program, startProgram } from "../../harness/childProcess.ts";
import { python } from "./python.ts";
import type { ClusterName } from "./testbed.ts";

const PROGRAM = fileURLToPath(new URL("stream.py", import.meta.url));
const REQUESTS_PER_SECOND = 15;
/** For stories that ask what becomes of one request in ten thousand, on a machine that does nothing else. */
export const MANY_REQUESTS_PER_SECOND = 80;

/** Steady requests from whichever of a cluster's client pods is ready: it outlives restarts of all of them. */
export interface Stream {
  sent(): number;
  /** Ends it; says why requests failed, and how often. */
  stop(): Promise<StreamResult>;
}

export interface StreamResult {
  readonly sent: number;
  readonly failed: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly servers: Readonly<Record<string, number>>;
}

export interface StreamOptions {
  readonly from: ClusterName;
  readonly host: string;
  readonly requestsPerSecond?: number | undefined;
  /** Folder of the testbed. */
  readonly testbed: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of its log. */
  readonly directory: string;
}

let started = 0;

export function startStream({ from, host, requestsPerSecond = REQUESTS_PER_SECOND, testbed, env, directory }: StreamOptions): Stream {
  const name = `stream-${++started}`;
  const program: Program = startProgram({
    name,
    command: python(),
    args: [PROGRAM, from, host, String(requestsPerSecond)],
    log: join(directory, `${name}.log`),
    env: {
      ...Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
      PYTHONPATH: testbed,
    },
  });
  const last = (): Partial<StreamResult> => {
    const [line = "{}"] = program.output().split("\n").slice(0, -1).slice(-1);
    return JSON.parse(line) as Partial<StreamResult>;
  };
  return {
    sent: () => last().sent ?? 0,
    async stop() {
      await program.stop(30_000);
      const { sent, failed, failures, servers } = last();
      if (sent === undefined || failed === undefined || failures === undefined || servers === undefined) {
        throw new Error(`the stream ended early: ${program.output().slice(-2_000)}`);
      }
      return { sent, failed, failures, servers };
    },
  };
}
