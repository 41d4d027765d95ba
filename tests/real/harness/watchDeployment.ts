import { WasmDeployment } from "@isthmus/api";
import type { Cluster } from "@isthmus/plane/ports";

/** What a WasmDeployment's status has said while it was watched. */
export interface WatchedDeployment {
  /** Ends it; gives what was said too early, each in a sentence. Throws what reading has thrown. */
  stop(): Promise<readonly string[]>;
  /** Generation → the states that were read of it. */
  readonly said: ReadonlyMap<number, ReadonlySet<string>>;
}

/**
 * Reads the status again and again. A generation of which it says FILTERS_DEPLOYED must be the one that proxies run then, or an earlier one:
 * `running` is asked each time after the status was read, for the value in the header of an answer. `values`: generation → its value.
 */
export function watchDeployment(
  management: Cluster,
  { name, values, running }: { readonly name: string; readonly values: readonly string[]; readonly running: () => Promise<string> },
): WatchedDeployment {
  const said = new Map<number, Set<string>>();
  const tooEarly: string[] = [];
  let isStopped = false;
  const ended = (async () => {
    while (!isStopped) {
      const { status } = (await management.get(WasmDeployment, { name, namespace: "gloo-mesh" })) ?? {};
      const { observedGeneration = 0, workloadStates = {} } = status ?? {};
      const states = Object.values(workloadStates);
      for (const state of states) said.set(observedGeneration, (said.get(observedGeneration) ?? new Set()).add(state));
      if (states.length === 0 || !states.every((state) => state === "FILTERS_DEPLOYED")) continue;
      const value = await running();
      if (values.indexOf(value) < observedGeneration) tooEarly.push(`generation ${observedGeneration} is deployed, proxies run ${value}`);
    }
  })();
  // Nobody waits for it before the end.
  ended.catch(() => undefined);
  return {
    said,
    async stop() {
      isStopped = true;
      await ended;
      return [...new Set(tooEarly)];
    },
  };
}
