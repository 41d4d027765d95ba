import type { ResourceRef } from "@isthmus/core";
import type { Verb } from "@isthmus/simulator";
import type { ActorPortOptions, CallFault } from "./actorPort.ts";

/** A fault of a call that makes one of these. */
export type PlannedFault = CallFault & { readonly verbs: readonly Verb[] };

/** What is planned to happen in calls of our processes to the clusters' API servers. "" is the management cluster. */
export interface CallFaults {
  /** What goes wrong with the next calls to a cluster's API server, in order. */
  failNext(clusterName: string, fault: PlannedFault): void;
  /** Does something once, right after one of our processes has read an object of a cluster by name: the `skip`th time from now. */
  afterRead(clusterName: string, skip: number, act: (ref: ResourceRef) => void): void;
  /** Whether a fault is planned for a cluster. */
  isPlanned(clusterName: string): boolean;
  heal(): void;
  /** For the port of a cluster. */
  hooks(clusterName: string): Pick<ActorPortOptions, "faultOf" | "wasRead">;
}

interface Reader {
  readonly skip: number;
  readonly act: (ref: ResourceRef) => void;
}

export function callFaults(): CallFaults {
  const readers = new Map<string, readonly Reader[]>();
  const faults = new Map<string, PlannedFault[]>();

  return {
    failNext: (clusterName, fault) => void faults.set(clusterName, [...(faults.get(clusterName) ?? []), fault]),
    afterRead: (clusterName, skip, act) => void readers.set(clusterName, [...(readers.get(clusterName) ?? []), { skip, act }]),
    isPlanned: (clusterName) => (faults.get(clusterName) ?? []).length > 0,
    heal() {
      faults.clear();
      readers.clear();
    },
    hooks: (clusterName) => ({
      faultOf(verb) {
        const planned = faults.get(clusterName) ?? [];
        const next = planned.findIndex(({ verbs }) => verbs.includes(verb));
        return next < 0 ? undefined : planned.splice(next, 1)[0];
      },
      wasRead(ref) {
        const waiting = readers.get(clusterName);
        if (waiting === undefined || waiting.length === 0) return;
        const next = waiting.map((reader) => ({ ...reader, skip: reader.skip - 1 }));
        readers.set(
          clusterName,
          next.filter(({ skip }) => skip >= 0),
        );
        for (const { skip, act } of next) if (skip < 0) act(ref);
      },
    }),
  };
}
