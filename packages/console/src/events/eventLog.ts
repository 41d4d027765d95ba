import type { Segment } from "./segment.ts";

/** The last events of a stream, each with its number: 1 is the first. Bounded; the oldest go. */
export interface EventLog {
  /** The number of the last event; 0: there was none. */
  readonly last: number;
  /** Adds the event with the number `last + 1`. */
  append(segment: Segment): void;
  /** Forgets all events, and that nobody has seen them: no position until now is held. */
  clear(): void;
  /** The event after that with this number; undefined: there is none yet, or it has gone. */
  after(position: number): Segment | undefined;
  /** Whether every event after that with this number is still here. */
  holds(position: number): boolean;
  /** Bytes of all events after that with this number, as far as they are here. */
  bytesAfter(position: number): number;
}

export interface EventLogOptions {
  readonly mostEvents: number;
  /** Of all together; the last one is kept whatever its length. */
  readonly mostBytes: number;
}

/** A log without events. */
export function eventLog({ mostEvents, mostBytes }: EventLogOptions): EventLog {
  const segments = new Map<number, Segment>();
  let last = 0;
  /** Number of the first that is here. */
  let first = 1;
  let bytes = 0;

  return {
    get last() {
      return last;
    },
    append(segment) {
      last += 1;
      segments.set(last, segment);
      bytes += segment.length;
      while (first < last && (segments.size > mostEvents || bytes > mostBytes)) {
        bytes -= segments.get(first)?.length ?? 0;
        segments.delete(first);
        first += 1;
      }
    },
    clear() {
      segments.clear();
      bytes = 0;
      last += 1;
      first = last + 1;
    },
    after: (position) => segments.get(position + 1),
    holds: (position) => Number.isInteger(position) && position + 1 >= first && position <= last,
    bytesAfter(position) {
      let sum = 0;
      for (let at = Math.max(position + 1, first); at <= last; at++) sum += segments.get(at)?.length ?? 0;
      return sum;
    },
  };
}
