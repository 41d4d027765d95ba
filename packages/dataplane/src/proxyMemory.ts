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

/** An empty memory for `most` edges. `forgotten` is called with the edges of each proxy that there is no room for. */
export function proxyMemory(most: number, forgotten: (edges: number) => void): ProxyMemory {
  const states = new Map<string, ProxyState>();
  const namespaces = new Map<string, { edges: number; readonly keys: Set<string> }>();
  let size = 0;

  function remove(key: string): void {
    const state = states.get(key);
    const own = namespaces.get(state?.pod.namespace ?? "");
    if (state === undefined || own === undefined) return;
    states.delete(key);
    own.keys.delete(key);
    own.edges -= sizeOf(state);
    size -= sizeOf(state);
    if (own.keys.size === 0) namespaces.delete(state.pod.namespace);
  }

  /** The largest proxy of the namespace with the most edges, if those are more than `edges`. */
  function largest(edges: number): ProxyState | undefined {
    let [found, keys] = [edges, undefined as ReadonlySet<string> | undefined];
    for (const other of namespaces.values()) if (other.edges > found) [found, keys] = [other.edges, other.keys];
    let state: ProxyState | undefined;
    for (const key of keys ?? []) {
      const one = states.get(key);
      if (one !== undefined && (state === undefined || sizeOf(one) > sizeOf(state))) state = one;
    }
    return state;
  }

  return {
    get: (key) => states.get(key),
    states: { [Symbol.iterator]: () => states.values() },
    keep(state) {
      const { key, namespace } = state.pod;
      const edges = sizeOf(state);
      remove(key);
      const after = (namespaces.get(namespace)?.edges ?? 0) + edges;
      while (size + edges > most) {
        const victim = largest(after);
        forgotten(sizeOf(victim ?? state));
        if (victim === undefined) return;
        remove(victim.pod.key);
      }
      const own = namespaces.get(namespace) ?? { edges: 0, keys: new Set() };
      namespaces.set(namespace, own);
      states.set(key, state);
      own.keys.add(key);
      own.edges += edges;
      size += edges;
    },
    delete: remove,
  };
}

function sizeOf({ sent, received }: ProxyState): number {
  return sent.size + received.size;
}
