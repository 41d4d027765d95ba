import { WasmDeployment } from "@isthmus/api";
import type { Cluster } from "@isthmus/ports";

const namespace = "gloo-mesh";

/** What a WasmDeployment's status has said while it was watched. */
export interface WatchedDeployment {
  /** Ends it; gives what was said too early, each in a sentence. Throws what reading has thrown. */
  stop(): Promise<readonly string[]>;
  /** Generation → the states that were read of it. */
  readonly said: ReadonlyMap<number, ReadonlySet<string>>;
}

/**
 * Watches the status, so that no state is missed however short, and reads it again and again. A generation of which it says FILTERS_DEPLOYED
 * must be the one that proxies run then, or an earlier one: `running` is asked each time after the status was read, for the value in the header
 * of an answer. `values`: generation → its value.
 */
export function watchDeployment(
  management: Cluster,
  { name, values, running }: { readonly name: string; readonly values: readonly string[]; readonly running: () => Promise<string> },
): WatchedDeployment {
  const said = new Map<number, Set<string>>();
  const tooEarly: string[] = [];
  const stopping = new AbortController();

  function note({ status }: WasmDeployment): void {
    const { observedGeneration = 0, workloadStates = {} } = status ?? {};
    for (const state of Object.values(workloadStates)) said.set(observedGeneration, (said.get(observedGeneration) ?? new Set()).add(state));
  }

  async function watchStates(): Promise<void> {
    const { items, resourceVersion } = await management.list(WasmDeployment, { namespace, name }, stopping.signal);
    items.forEach(note);
    let from = resourceVersion;
    // The API server ends a watch after some minutes.
    while (!stopping.signal.aborted) {
      for await (const event of management.watch(WasmDeployment, from, { namespace, name }, stopping.signal)) {
        from = event.resourceVersion;
        if (event.type === "put") note(event.resource);
      }
    }
  }

  async function compareWithProxies(): Promise<void> {
    while (!stopping.signal.aborted) {
      const { status } = (await management.get(WasmDeployment, { name, namespace })) ?? {};
      const { observedGeneration = 0, workloadStates = {} } = status ?? {};
      const states = Object.values(workloadStates);
      if (states.length === 0 || !states.every((state) => state === "FILTERS_DEPLOYED")) continue;
      const value = await running();
      if (values.indexOf(value) < observedGeneration) tooEarly.push(`generation ${observedGeneration} is deployed, proxies run ${value}`);
    }
  }

  const watching = watchStates().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  const ended = Promise.all([watching, compareWithProxies()]);
  // Nobody waits for it before the end.
  ended.catch(() => undefined);
  return {
    said,
    async stop() {
      // The watch may not have come so far.
      const last = await management.get(WasmDeployment, { name, namespace });
      if (last !== undefined) note(last);
      stopping.abort();
      await ended;
      return [...new Set(tooEarly)];
    },
  };
}
