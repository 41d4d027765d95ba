import { type MeshProxy, proxyKey } from "./proxies.ts";
import { behaviourOf } from "./services.ts";

/** How many requests pods have room for. */
export interface PodRooms {
  /** Whether a pod takes one more request, which it then has. */
  hasRoom(called: MeshProxy): boolean;
  /** Time has passed: each pod has room for more, for those of one second at most. Pods that are no longer there are forgotten. */
  pass(seconds: number, proxies: readonly MeshProxy[]): void;
}

/** The rooms of pods that nobody has called yet. */
export function podRooms(): PodRooms {
  const rooms = new Map<string, number>();
  return {
    hasRoom(called) {
      const left = rooms.get(proxyKey(called)) ?? behaviourOf(called).capacity;
      rooms.set(proxyKey(called), left - 1);
      return left > 0;
    },
    pass(seconds, proxies) {
      for (const [key, left] of rooms) {
        const proxy = proxies.find((one) => proxyKey(one) === key);
        if (proxy === undefined) {
          rooms.delete(key);
          continue;
        }
        const most = behaviourOf(proxy).capacity;
        rooms.set(key, Math.min(most, left + most * seconds));
      }
    },
  };
}
