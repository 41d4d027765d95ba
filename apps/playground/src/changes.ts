import { equalContent, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import { type Cluster, runReflector, systemClock } from "@isthmus/plane";
import { colors } from "./colors.ts";
import { described, SHOWN } from "./outcome.ts";

/** Tells of every object that appears, changes or goes, from now on. Changes of status alone are not reported. */
export function printChanges(clusters: readonly Cluster[], say: (line: string) => void, signal: AbortSignal): void {
  for (const cluster of clusters) {
    for (const kind of SHOWN) {
      const known = new Map<string, Resource>();
      let first = true;
      void runReflector(
        {
          cluster,
          kind,
          clock: systemClock,
          random: Math.random,
          emit(event) {
            if (event.type === "listed") {
              const items = new Map(event.items.map((item) => [resourceKeyOf(refOf(item)), item]));
              if (!first) for (const item of items.values()) tell(item);
              for (const [key, item] of items) known.set(key, item);
              first = false;
            } else if (event.type === "put") tell(event.resource);
            else if (event.type === "removed") {
              const gone = known.get(resourceKeyOf(event.ref));
              known.delete(resourceKeyOf(event.ref));
              say(`${colors.red("-")} ${described(gone ?? { ...event.ref, metadata: event.ref })}`);
            }
          },
        },
        signal,
      );

      function tell(resource: Resource): void {
        const key = resourceKeyOf(refOf(resource));
        const before = known.get(key);
        known.set(key, resource);
        if (before !== undefined && equalContent(before, resource)) return;
        say(`${before === undefined ? colors.green("+") : colors.yellow("~")} ${described(resource)}`);
      }
    }
  }
}
