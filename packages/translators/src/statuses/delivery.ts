import { formatRef, type Report, type ResourceRef, refOf } from "@isthmus/core";
import { concernedBy } from "../networking/concern.ts";
import type { World } from "../translate.ts";
import { userKeyOf } from "../userResources.ts";
import type { Progress } from "./approval.ts";

/** How far an object has come on its way into its cluster. */
export type DeliveryState =
  /** Not answered yet. */
  | "pending"
  /** Nothing has been heard of its cluster since the server started: it may be there as well as not. */
  | "unheard"
  /** The API server has it. */
  | "applied"
  /** It was refused. */
  | { readonly code: string; readonly message: string };

/** What agents have said of the objects that they were sent. */
export interface Delivery {
  stateOf(ref: ResourceRef): DeliveryState;
}

/** Delivery as users' resources see it. */
export interface DeliveryFindings {
  readonly reports: readonly Report[];
  /** By `userKeyOf`. */
  readonly progress: ReadonlyMap<string, Progress>;
}

/** Tells every refusal to the users' resources behind the object. */
export function deliveryFindings({ memory, networking }: World, delivery: Delivery): DeliveryFindings {
  const reports: Report[] = [];
  const progress = new Map<string, { total: number; applied: number; failed: number; unheard: number }>();
  for (const { inputs, outputs } of memory.targets) {
    for (const output of outputs) {
      const ref = refOf(output.resource);
      // What collided was not sent.
      if (networking.get(ref) === undefined) continue;
      const state = delivery.stateOf(ref);
      const { subjects, target } = concernedBy(inputs, output);
      for (const subject of subjects) {
        const key = userKeyOf(subject);
        const sums = progress.get(key) ?? { total: 0, applied: 0, failed: 0, unheard: 0 };
        progress.set(key, sums);
        sums.total++;
        if (state === "applied") sums.applied++;
        if (state === "unheard") sums.unheard++;
        if (typeof state !== "object") continue;
        sums.failed++;
        const message = `${formatRef(ref)} can't be written: ${state.code}: ${state.message}`;
        reports.push({ subject, target, state: "FAILED", code: "WriteFailed", message });
      }
    }
  }
  return { reports, progress };
}
