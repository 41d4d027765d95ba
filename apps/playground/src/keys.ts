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

/** Runs an action for each key that is pressed, one after the other, until q, Ctrl-C, the end of standard input or the signal. */
export async function onKeys(demo: Demo, say: (line: string) => void, signal: AbortSignal): Promise<void> {
  const { stdin } = process;
  const pressed: string[] = [];
  let hasEnded = false;
  let wake: () => void = () => undefined;
  const onData = (data: Buffer) => {
    pressed.push(...data.toString());
    wake();
  };
  const onEnd = () => {
    hasEnded = true;
    wake();
  };
  signal.addEventListener("abort", () => wake(), { once: true });
  stdin.setRawMode?.(true);
  stdin.on("data", onData).on("end", onEnd);
  try {
    while (!signal.aborted) {
      const key = pressed.shift();
      if (key === undefined) {
        if (hasEnded) return say("Standard input has ended, so no key can come: use a terminal, or --check, which needs none.");
        await new Promise<void>((resolve) => (wake = resolve));
      } else if (key === "q" || key === "\u0003") return;
      else if (key.trim() !== "") await pressedKey(key, demo, say);
    }
  } finally {
    stdin.off("data", onData).off("end", onEnd);
    stdin.setRawMode?.(false);
    stdin.pause();
  }
}

async function pressedKey(key: string, demo: Demo, say: (line: string) => void): Promise<void> {
  const action = ACTIONS.find((one) => one.key === key);
  if (action === undefined) say(`Keys:\n\n${help()}\n`);
  else await action.run(demo, say);
}

async function apply(demo: Demo, policy: TrafficPolicy, effect: string, say: (line: string) => void): Promise<void> {
  const { name, namespace = "" } = policy.metadata;
  const before = await demo.management.get(TrafficPolicy, { name, namespace });
  const after = await demo.management.apply(policy, { fieldManager: "demo" });
  if (before?.metadata.resourceVersion === after.metadata.resourceVersion)
    return say(`TrafficPolicy ${name} is there already: nothing changes.`);
  say(`TrafficPolicy ${name} is written to the management cluster: ${effect}.`);
  for (const { name: cluster } of demo.workload) {
    if (!demo.isAgentRunning(cluster)) say(`The agent of ${cluster} is stopped: what changes there waits for it.`);
  }
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
