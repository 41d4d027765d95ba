import { TrafficPolicy } from "@isthmus/api";
import { ClusterError } from "@isthmus/plane";
import { colors } from "./colors.ts";
import type { Demo } from "./demo.ts";
import { countsTable, federationTable } from "./outcome.ts";
import { shiftPolicy, timeoutPolicy } from "./policies.ts";

interface Action {
  readonly key: string;
  readonly label: string;
  run(demo: Demo, say: (line: string) => void): Promise<void>;
}

const ACTIONS: readonly Action[] = [
  {
    key: "s",
    label: "shift a quarter of the calls to reviews over to cluster-2",
    run: (demo, say) => apply(demo, shiftPolicy, "callers of reviews in cluster-1 reach cluster-2 one time in four", say),
  },
  { key: "u", label: "undo the shift", run: (demo, say) => remove(demo, shiftPolicy, say) },
  {
    key: "t",
    label: "a timeout of 2 s and three tries for reviews",
    run: (demo, say) => apply(demo, timeoutPolicy, "calls to reviews give up after 2 s", say),
  },
  { key: "d", label: "drop the timeout", run: (demo, say) => remove(demo, timeoutPolicy, say) },
  {
    key: "a",
    label: "stop the agent of cluster-2, or start it again",
    async run(demo, say) {
      if (demo.isAgentRunning("cluster-2")) {
        await demo.stopAgent("cluster-2");
        say("The agent of cluster-2 is stopped. What it reported stays in use, nothing is removed; changes for cluster-2 wait.");
      } else {
        demo.startAgent("cluster-2");
        say("The agent of cluster-2 is started: it says what it sees, and catches up with what is wanted.");
      }
    },
  },
  {
    key: "p",
    label: "print what there is",
    async run(demo, say) {
      say(`\n${await countsTable(demo.management, demo.workload)}\n${await federationTable(demo.workload)}`);
    },
  },
];

/** The keys and what they do, for people. */
export function help(): string {
  return [...ACTIONS.map(({ key, label }) => `  ${colors.bold(key)}  ${label}`), `  ${colors.bold("q")}  quit (or Ctrl-C)`].join("\n");
}

/** Runs an action for each key that is pressed, one after the other, until q, Ctrl-C or the signal. */
export async function onKeys(demo: Demo, say: (line: string) => void, signal: AbortSignal): Promise<void> {
  const { stdin } = process;
  const pressed: string[] = [];
  let wake: () => void = () => undefined;
  const onData = (data: Buffer) => {
    pressed.push(...data.toString());
    wake();
  };
  signal.addEventListener("abort", () => wake(), { once: true });
  stdin.setRawMode?.(true);
  stdin.on("data", onData);
  try {
    while (!signal.aborted) {
      const key = pressed.shift();
      if (key === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else if (key === "q" || key === "\u0003") return;
      else await ACTIONS.find((action) => action.key === key)?.run(demo, say);
    }
  } finally {
    stdin.off("data", onData);
    stdin.setRawMode?.(false);
    stdin.pause();
  }
}

async function apply(demo: Demo, policy: TrafficPolicy, effect: string, say: (line: string) => void): Promise<void> {
  await demo.management.apply(policy, { fieldManager: "demo" });
  say(`TrafficPolicy ${policy.metadata.name} is written to the management cluster: ${effect}.`);
}

async function remove(demo: Demo, policy: TrafficPolicy, say: (line: string) => void): Promise<void> {
  const { name, namespace = "" } = policy.metadata;
  try {
    await demo.management.delete({ apiVersion: TrafficPolicy.apiVersion, kind: TrafficPolicy.kind, name, namespace, clusterName: "" });
    say(`TrafficPolicy ${name} is deleted: exactly what came from it goes.`);
  } catch (error) {
    if (!(error instanceof ClusterError && error.code === "NotFound")) throw error;
    say(`TrafficPolicy ${name} is not there.`);
  }
}
