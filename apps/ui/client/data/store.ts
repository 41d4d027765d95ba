import { messageOf } from "@isthmus/core";
import { createContext, useContext, useSyncExternalStore } from "react";
import { followStream } from "./connection.ts";
import type { ConnectionState } from "./connectionState.ts";
import { emptyFleet, type Fleet } from "./fleet.ts";
import { type FleetEvent, folded, NO_STREAM } from "./fold.ts";
import { type HeldFleet, heldFleet, type PausedState } from "./heldFleet.ts";
import { readPast } from "./past.ts";

/** What React reads: the fleet, and how the connection to the server stands. */
export interface FleetState {
  /** What is shown: that of now, or of an earlier time. */
  readonly fleet: Fleet;
  /** That of now. */
  readonly live: Fleet;
  /** The earlier time that is asked for, in ISO 8601, if any, and why it cannot be shown. */
  readonly past: { readonly at: string; readonly problem?: string } | undefined;
  /** Since when what is shown stands still, if it does. */
  readonly paused: PausedState | undefined;
  readonly connection: ConnectionState;
  /** When the fleet's clock was received: milliseconds since 1970, of the browser's clock. */
  readonly clockAt: number;
}

export interface FleetStore {
  subscribe(listener: () => void): () => void;
  get(): FleetState;
  /** Shows what was known at a time in ISO 8601; undefined: what is known now. */
  show(at: string | undefined): void;
  /** Keeps what is shown as it is, or shows what is known now again. What comes in meanwhile is folded as ever, so that it takes no more memory than another fleet. */
  pause(isPaused: boolean): void;
}

// A few renders a second, however much changes.
const RENDER_MS = 250;

/** Follows the server's stream until `signal` is aborted, and tells listeners of what came in since at most four times a second. */
export function startFleetStore(signal: AbortSignal): FleetStore {
  let stream = NO_STREAM;
  let past: FleetState["past"];
  let pastFleet: Fleet | undefined;
  let stopPast = new AbortController();
  let state: FleetState = {
    fleet: stream.shown,
    live: stream.shown,
    past,
    paused: undefined,
    connection: { isConnected: false, since: Date.now() },
    clockAt: Date.now(),
  };
  let held: HeldFleet | undefined;
  let waiting: FleetEvent[] = [];
  let connection = state.connection;
  let clockAt = state.clockAt;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listeners = new Set<() => void>();

  const flush = (): void => {
    timer = undefined;
    const events = waiting;
    waiting = [];
    stream = folded(stream, events);
    const now = held?.fleet ?? stream.shown;
    const paused = held?.beside(
      stream.shown,
      events.some(({ type }) => type === "reset"),
    );
    const fleet = past === undefined ? now : (pastFleet ?? emptyFleet());
    state = { fleet, live: stream.shown, past, paused, connection, clockAt };
    for (const listener of listeners) listener();
  };
  const soon = (): void => {
    timer ??= setTimeout(flush, RENDER_MS);
  };
  followStream(
    {
      onEvent(event) {
        waiting.push(event);
        if (event.type === "clock") clockAt = Date.now();
        // What the page waits for is shown at once.
        if (event.type === "ready" && !stream.shown.isReady) {
          clearTimeout(timer);
          flush();
        } else soon();
      },
      onState(next) {
        connection = next;
        soon();
      },
    },
    signal,
  );
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get: () => state,
    pause(isPaused) {
      if (isPaused === (held !== undefined) || !stream.shown.isReady) return;
      clearTimeout(timer);
      const since = Date.now();
      const told = Date.parse(stream.shown.clock?.now ?? "");
      // What has come in and is not shown yet waits, too.
      held = isPaused ? heldFleet(stream.shown, { since, serverNow: Number.isNaN(told) ? since : told + (since - clockAt) }) : undefined;
      flush();
    },
    show(at) {
      if (at === past?.at) return;
      stopPast.abort();
      stopPast = new AbortController();
      const { signal: until } = stopPast;
      past = at === undefined ? undefined : { at };
      // While it is read, what was shown before stays.
      pastFleet = at === undefined ? undefined : state.fleet;
      soon();
      if (at === undefined) return;
      readPast(at, AbortSignal.any([signal, until])).then(
        (fleet) => {
          if (until.aborted) return;
          pastFleet = fleet;
          soon();
        },
        (error: unknown) => {
          if (until.aborted) return;
          past = { at, problem: messageOf(error) };
          pastFleet = undefined;
          soon();
        },
      );
    },
  };
}

const StoreContext = createContext<FleetStore | undefined>(undefined);

/** Gives a store to all components below. */
export const FleetStoreProvider = StoreContext.Provider;

/** The fleet as it is now; the component is rendered again when it changes. */
export function useFleet(): Fleet {
  return useFleetState().fleet;
}

/** The store of the page. */
export function useFleetStore(): FleetStore {
  const store = useContext(StoreContext);
  if (store === undefined) throw new Error("a component that reads the fleet is not inside of FleetStoreProvider");
  return store;
}

/** The fleet with its connection. */
export function useFleetState(): FleetState {
  const store = useFleetStore();
  return useSyncExternalStore(store.subscribe, store.get);
}
