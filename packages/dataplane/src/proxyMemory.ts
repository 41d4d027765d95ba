import type { EdgeSignals } from "./proxySignals.ts";

/** What a proxy had counted when it was last scraped. */
export interface ProxyState {
  readonly pod: { readonly key: string; readonly namespace: string; readonly workload: string };
  readonly sent: ReadonlyMap<string, EdgeSignals>;
  readonly received: ReadonlyMap<string, EdgeSignals>;
}

/** What proxies had counted, with a bound on the edges of all of them that no namespace can use up at the cost of smaller ones. */
export interface ProxyMemory {
  get(key: string): ProxyState | undefined;
  readonly states: Iterable<ProxyState>;
  /**
   * Replaces what is known of a proxy. When there is no room, namespaces with more edges than its own give up their largest proxies; where there is
   * none, the proxy is forgotten.
   */
  keep(state: ProxyState): void;
  delete(key: string): void;
}

/**
 * An empty memory for `most` edges of names of usual length: longer ones count as several, so that a pod that chooses them takes no more memory. `forgotten` is called
 * with the edges of each proxy that there is no room for.
 */
export function proxyMemory(most: number, forgotten: (edges: number) => void): ProxyMemory {
  const states = new Map<string, ProxyState & { readonly weight: number }>();
  const namespaces = new Map<string, { weight: number; readonly keys: Set<string> }>();
  let size = 0;

  function remove(key: string): void {
    const state = states.get(key);
    const own = namespaces.get(state?.pod.namespace ?? "");
    if (state === undefined || own === undefined) return;
    states.delete(key);
    own.keys.delete(key);
    own.weight -= state.weight;
    size -= state.weight;
    if (own.keys.size === 0) namespaces.delete(state.pod.namespace);
  }

  /** The largest proxy of the namespace that has the most, if that is more than `weight`. */
  function largest(weight: number): ProxyState | undefined {
    let [found, keys] = [weight, undefined as ReadonlySet<string> | undefined];
    for (const other of namespaces.values()) if (other.weight > found) [found, keys] = [other.weight, other.keys];
    let state: (ProxyState & { readonly weight: number }) | undefined;
    for (const key of keys ?? []) {
      const one = states.get(key);
      if (one !== undefined && (state === undefined || one.weight > state.weight)) state = one;
    }
    return state;
  }

  return {
    get: (key) => states.get(key),
    states: { [Symbol.iterator]: () => states.values() },
    keep(state) {
      const { key, namespace } = state.pod;
      const weight = weightOf(state);
      remove(key);
      const after = (namespaces.get(namespace)?.weight ?? 0) + weight;
      while (size + weight > most) {
        const victim = largest(after);
        forgotten(edgesOf(victim ?? state));
        if (victim === undefined) return;
        remove(victim.pod.key);
      }
      const own = namespaces.get(namespace) ?? { weight: 0, keys: new Set() };
      namespaces.set(namespace, own);
      states.set(key, { ...state, weight });
      own.keys.add(key);
      own.weight += weight;
      size += weight;
    },
    delete: remove,
  };
}

function edgesOf({ sent, received }: ProxyState): number {
  return sent.size + received.size;
}

/** Keys are made of the names of an edge, which are kept beside them. */
function weightOf({ sent, received }: ProxyState): number {
  let weight = 0;
  for (const edges of [sent, received]) for (const key of edges.keys()) weight += Math.ceil(key.length / USUAL_KEY);
  return weight;
}

// Six names of 25 letters each; the longest key has ten times as many.
const USUAL_KEY = 150;
