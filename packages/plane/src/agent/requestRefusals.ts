import { type Clock, formatRef, keptText, type Log, type Meter, type ResourceRef, resourceKeyOf, uptimeOf } from "@isthmus/core";
import type { Rejection } from "@isthmus/ports";
import type { RequestRefusal } from "./limits.ts";

/** Orders of the server that were not carried out, as they go beyond what it may order here. */
export interface RequestRefusals {
  /** Logs it and counts it, unless the same was refused before. */
  add(ref: ResourceRef, refusal: RequestRefusal): void;
  /** Another order took its place, or the object is gone. */
  remove(ref: ResourceRef): void;
  clear(): void;
  /** By `resourceKeyOf`. */
  readonly all: ReadonlyMap<string, Rejection>;
}

export interface RequestRefusalsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

/**
 * Keeps the refusals that are in force. Logs at most 100 a minute in full, and later the number of the others; each new one is counted in
 * `gloo_mesh_orders_refused_total`.
 */
export function requestRefusals({ clock, log, meter }: RequestRefusalsOptions): RequestRefusals {
  const all = new Map<string, Rejection>();
  let lines = { since: uptimeOf(clock), count: 0 };

  /** A server can refuse to learn: of what is refused again and again, people need to read a little. */
  function line(ref: ResourceRef, message: string): void {
    const now = uptimeOf(clock);
    if (now - lines.since >= LINES_MS) {
      if (lines.count > MAX_LINES)
        log.error({ refused: lines.count }, `refused ${lines.count - MAX_LINES} more writes requested by the server`);
      lines = { since: now, count: 0 };
    }
    lines = { ...lines, count: lines.count + 1 };
    if (lines.count <= MAX_LINES) log.error({ object: keptText(formatRef(ref), MAX_TEXT), code: "Refused" }, message);
  }

  return {
    all,
    add(ref, { reason, message }) {
      const key = resourceKeyOf(ref);
      if (all.get(key)?.message === message) return;
      all.set(key, { ref, code: "Refused", message });
      meter.add("gloo_mesh_orders_refused_total", { reason });
      line(ref, message);
    },
    remove: (ref) => void all.delete(resourceKeyOf(ref)),
    clear: () => all.clear(),
  };
}

const LINES_MS = 60_000;
const MAX_LINES = 100;
const MAX_TEXT = 1_024;
