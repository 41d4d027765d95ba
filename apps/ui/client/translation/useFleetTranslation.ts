import { useEffect, useRef, useState } from "react";
import type { Fleet } from "../data/fleet.ts";
import { useFleet } from "../data/store.ts";
import { type FleetTranslation, fleetTranslation } from "./fleetTranslation.ts";
import { inSlices } from "./slices.ts";

// What pages share, as long as one of them is open and for a moment afterwards: from scratch it costs seconds for a large fleet, and holds a fleet in memory.
let known: FleetTranslation | undefined;
let users = 0;
let forgetting: ReturnType<typeof setTimeout> | undefined;
const KEPT_MS = 30_000;

/** The translation of the fleet, which follows it; undefined while the first is made. One run at a time: changes meanwhile are one further run. */
export function useFleetTranslation(): FleetTranslation | undefined {
  const fleet = useFleet();
  const [current, setCurrent] = useState(known);
  const latest = useRef<Fleet>(fleet);
  const wake = useRef<() => void>(() => undefined);
  latest.current = fleet;

  useEffect(() => {
    const stop = new AbortController();
    let isRunning = false;
    users++;
    clearTimeout(forgetting);
    const run = async (): Promise<void> => {
      if (isRunning) return;
      isRunning = true;
      try {
        while (known?.snapshot !== latest.current.snapshot) {
          known = await inSlices(fleetTranslation(latest.current, known), stop.signal);
          setCurrent(known);
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        // As part of rendering, so that the page says that it failed.
        setCurrent(() => {
          throw error;
        });
      } finally {
        isRunning = false;
      }
    };
    wake.current = () => void run();
    return () => {
      stop.abort();
      users--;
      if (users === 0) forgetting = setTimeout(() => (known = undefined), KEPT_MS);
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the snapshot is what makes it run again
  useEffect(() => wake.current(), [fleet.snapshot]);
  return current;
}
