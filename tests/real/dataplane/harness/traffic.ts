import { join } from "node:path";
import { type Program, startProgram } from "../../harness/childProcess.ts";

/** A steady stream of requests, each over a new connection to the client's sidecar. */
export interface Traffic {
  /** How often each answer was given so far: `200 cluster-1/reviews-v1`; `000` is none at all, with what curl says of it. */
  answers(): Readonly<Record<string, number>>;
  /** Those that do not begin with `expected`. */
  answersBut(expected: string): Readonly<Record<string, number>>;
  /** How many requests are over. */
  count(): number;
  stop(): Promise<void>;
}

export interface TrafficOptions {
  readonly host: string;
  /** What runs a command inside the client pod. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of its log. */
  readonly directory: string;
}

const REQUESTS_PER_SECOND = 20;
/** More than any test waits. */
const MOST_REQUESTS = 1_000_000;
let started = 0;

export function startTraffic({ host, command: [first = "", ...rest], env, directory }: TrafficOptions): Traffic {
  const curl = [
    ...["curl", "-s", "-m", "10", "-o", "/dev/null", "-H", "connection: close", "--rate", `${REQUESTS_PER_SECOND}/s`],
    // What goes to standard error is not buffered.
    ...["-w", "%{stderr}%{http_code} %header{x-server}|%{errormsg} after %{time_total} s\n", `http://${host}:9080/[1-${MOST_REQUESTS}]`],
  ];
  const name = `traffic-${++started}`;
  const program: Program = startProgram({
    name,
    command: first,
    args: [...rest, ...curl],
    log: join(directory, `${name}.log`),
    env: Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  });

  /** A last line without its end is still being written. */
  const lines = () => program.output().split("\n").slice(0, -1);

  function answers(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const line of lines()) {
      const [answer = "", why = ""] = line.split("|");
      const said = answer.startsWith("000") ? `${answer.trim()} ${why}` : answer.trim();
      counts[said] = (counts[said] ?? 0) + 1;
    }
    return counts;
  }

  return {
    answers,
    count: () => lines().length,
    answersBut: (expected) => Object.fromEntries(Object.entries(answers()).filter(([answer]) => !answer.startsWith(expected))),
    stop: () => program.stop(),
  };
}
