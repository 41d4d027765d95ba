import { kindKeyOf, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import type { DeleteRequest, DesiredUpdate } from "@isthmus/ports";
import { SERVER_ROLES } from "./roles.ts";

/** How a removal that an agent has made is to be judged. */
export type Order =
  /** Somebody asked for it, by deleting or changing what asked for the object. */
  | "on purpose"
  /** What the object came from is merely not seen any more. */
  | "unseen"
  /** Nothing that the agent received lets it remove the object. */
  | "none";

/** What each process was given as desired, and to remove. */
export interface Orders {
  told(process: string, desired: DesiredUpdate): void;
  /**
   * What is under way to an API server continues though the object is desired again: any order since everything was at rest
   * counts.
   */
  of(process: string, ref: ResourceRef): Order;
  /** Whether the removal of an object was ordered with a cause; else a complete set merely lacked it. */
  isOrdered(process: string, ref: ResourceRef): boolean;
  /** What a process was ordered to remove of which the origin is merely not seen any more. */
  unseenOf(process: string): readonly ResourceRef[];
  atRest(): void;
}

interface Told {
  /** All that is desired, once a complete set has come. */
  wanted: Set<string> | undefined;
  /** What was not, and then was. */
  readonly unwanted: Set<string>;
  readonly removals: Map<string, DeleteRequest>;
}

const DISCOVERED = new Set(SERVER_ROLES.kinds.discovery.map(kindKeyOf));

export function orders(): Orders {
  const processes = new Map<string, Told>();
  return {
    told(process, desired) {
      const told = processes.get(process) ?? { wanted: undefined, unwanted: new Set(), removals: new Map() };
      processes.set(process, told);
      const before = told.wanted;
      if (desired.complete) told.wanted = new Set();
      for (const ref of [...desired.put.map(refOf), ...(desired.withheld ?? [])]) {
        if (before?.has(resourceKeyOf(ref)) === false) told.unwanted.add(resourceKeyOf(ref));
        told.wanted?.add(resourceKeyOf(ref));
      }
      for (const removal of desired.remove) {
        told.wanted?.delete(resourceKeyOf(removal.ref));
        if (removal.evidence.inputs.length > 0) told.removals.set(resourceKeyOf(removal.ref), removal);
      }
    },
    of(process, ref) {
      const told = processes.get(process);
      const key = resourceKeyOf(ref);
      const evidence = told?.removals.get(key)?.evidence;
      if (evidence !== undefined) {
        return isUnseen(evidence) ? "unseen" : "on purpose";
      }
      return told?.wanted?.has(key) === false || told?.unwanted.has(key) === true ? "unseen" : "none";
    },
    unseenOf: (process) =>
      [...(processes.get(process)?.removals.values() ?? [])].filter(({ evidence }) => isUnseen(evidence)).map(({ ref }) => ref),
    isOrdered: (process, ref) => processes.get(process)?.removals.has(resourceKeyOf(ref)) === true,
    atRest() {
      for (const { unwanted, removals } of processes.values()) {
        unwanted.clear();
        removals.clear();
      }
    },
  };
}

function isUnseen({ reason, inputs }: DeleteRequest["evidence"]): boolean {
  return reason === "InputRemoved" && inputs.every((input) => DISCOVERED.has(kindKeyOf(input)));
}
