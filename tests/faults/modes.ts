import { KubernetesCluster } from "@isthmus/api";
import { kindKeyOf, type Resource } from "@isthmus/core";
import type { Write } from "./actorPort.ts";

/** What was sent to agents of what they may write, and whether they hold to it. */
export interface Modes {
  /** The relay's loops of an agent have started: nothing may be written before a mode is known. */
  started(process: string): void;
  /** The link of an agent has handed on notices. */
  noticed(process: string, resources: readonly Resource[]): void;
  /** An agent has answered, with a mode. */
  answered(process: string): void;
  /** Why a write must not be; undefined: it may. */
  problemOf(write: Pick<Write, "actor" | "cluster" | "begun" | "ref">): string | undefined;
}

interface Told {
  readonly mode: string | undefined;
  /** Since when nothing may be written; undefined: it may, or the agent has not answered since. */
  readonly closedSince: number | undefined;
  /** All objects of these kinds may be written nevertheless. */
  readonly managedKinds: readonly string[];
}

/** `now` gives milliseconds. */
export function modes(now: () => number): Modes {
  const processes = new Map<string, Told>();
  return {
    started: (process) => void processes.set(process, { mode: undefined, closedSince: now(), managedKinds: [] }),
    noticed(process, resources) {
      const before = processes.get(process);
      for (const resource of resources) {
        if (kindKeyOf(resource) !== kindKeyOf(KubernetesCluster)) continue;
        const { mode = "manage", managedObjects = [] } = (resource as KubernetesCluster).spec ?? {};
        // Closed already, it stays so; else what is under way is waited for.
        const closedSince = mode === "manage" ? undefined : before?.closedSince;
        const managedKinds = mode === "observe" ? managedObjects.flatMap(({ kind }) => kind ?? []) : [];
        processes.set(process, { mode, closedSince, managedKinds });
      }
    },
    answered(process) {
      const told = processes.get(process);
      if (told?.mode === undefined || told.mode === "manage" || told.closedSince !== undefined) return;
      processes.set(process, { ...told, closedSince: now() });
    },
    problemOf({ actor, cluster, begun, ref }) {
      const told = processes.get(actor);
      if (cluster === "" || told?.closedSince === undefined || begun <= told.closedSince) return undefined;
      if (told.managedKinds.includes(ref.kind)) return undefined;
      return told.mode === undefined ? "it was told no mode" : `it was told ${told.mode}, and has acknowledged that`;
    },
  };
}
