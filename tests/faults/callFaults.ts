import type { ResourceRef } from "@isthmus/core";
import type { Verb } from "@isthmus/simulator";
import type { ActorPortOptions, CallFault, PortCall } from "./actorPort.ts";

/** A fault of a call that makes one of these. */
export type PlannedFault = CallFault & { readonly verbs: readonly Verb[] };

/** What an API server refuses until it is mended. */
export type Refusal = CallFault & { readonly refuses: (call: PortCall) => boolean };

/** What is planned to happen in calls of our processes to the clusters' API servers. "" is the management cluster. */
export interface CallFaults {
  /** What goes wrong with the next calls to a cluster's API server, in order. */
  failNext(clusterName: string, fault: PlannedFault): void;
  /** From now on an API server refuses such calls, beside those of other names; undefined: it no longer does. */
  refuse(clusterName: string, name: string, refusal: Refusal | undefined): void;
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
  const refusals = new Map<string, Map<string, Refusal>>();

  return {
    refuse(clusterName, name, refusal) {
      const known = refusals.get(clusterName) ?? new Map<string, Refusal>();
      refusals.set(clusterName, known);
      if (refusal === undefined) known.delete(name);
      else known.set(name, refusal);
    },
    failNext: (clusterName, fault) => void faults.set(clusterName, [...(faults.get(clusterName) ?? []), fault]),
    afterRead: (clusterName, skip, act) => void readers.set(clusterName, [...(readers.get(clusterName) ?? []), { skip, act }]),
    isPlanned: (clusterName) => (faults.get(clusterName) ?? []).length > 0 || (refusals.get(clusterName)?.size ?? 0) > 0,
    heal() {
      faults.clear();
      refusals.clear();
      readers.clear();
    },
    hooks: (clusterName) => ({
      faultOf(call) {
        const planned = faults.get(clusterName) ?? [];
        const next = planned.findIndex(({ verbs }) => verbs.includes(call.verb));
        if (next >= 0) return planned.splice(next, 1)[0];
        return [...(refusals.get(clusterName)?.values() ?? [])].find(({ refuses }) => refuses(call));
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
