import { deltaBetween } from "@isthmus/core";
import type { Fleet } from "./fleet.ts";

/** A fleet that stands still because a person wants it to. */
export interface PausedState {
  /** Milliseconds since 1970, of the browser's clock. */
  readonly since: number;
  /** The server's time then, in milliseconds since 1970: no age changes. */
  readonly serverNow: number;
  /** Objects, and objects with other insights, that differ by now; undefined: all was sent again meanwhile, so that nobody has counted. */
  readonly changes: number | undefined;
}

/** What is shown while live updates are paused. */
export interface HeldFleet {
  readonly fleet: Fleet;
  /** How it stands beside what is known by now; `wasReset`: all of that was sent from the beginning since it was last asked. Counting costs what differs, once for each fleet. */
  beside(now: Fleet, wasReset: boolean): PausedState;
}

/** Holds a fleet as it is. */
export function heldFleet(fleet: Fleet, { since, serverNow }: Pick<PausedState, "since" | "serverNow">): HeldFleet {
  let counted: { readonly of: Fleet; readonly changes: number | undefined } = { of: fleet, changes: 0 };
  return {
    fleet,
    beside(now, wasReset) {
      if (wasReset || counted.changes === undefined) counted = { of: now, changes: undefined };
      else if (counted.of !== now) counted = { of: now, changes: changesBetween(fleet, now) };
      return { since, serverNow, changes: counted.changes };
    },
  };
}

function changesBetween(before: Fleet, after: Fleet): number {
  const objects = [deltaBetween(before.snapshot, after.snapshot), deltaBetween(before.generated, after.generated)];
  const insights = after.insights.changesSince(before.insights);
  return objects.reduce((sum, { put, remove }) => sum + put.length + remove.length, insights.length);
}
