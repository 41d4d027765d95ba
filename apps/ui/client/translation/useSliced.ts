import type { CooperativeTask } from "@isthmus/core";
import { useEffect, useState } from "react";
import { inSlices } from "./slices.ts";

/** The result of a task that is done in slices, again whenever `make` is another one; that of before stays meanwhile. Undefined: none yet, or there is no task. */
export function useSliced<T>(make: () => CooperativeTask<T> | undefined): T | undefined {
  const [result, setResult] = useState<T>();
  useEffect(() => {
    const stop = new AbortController();
    const task = make();
    if (task === undefined) setResult(undefined);
    else {
      inSlices(task, stop.signal).then(setResult, (error: unknown) => {
        if (stop.signal.aborted) return;
        // As part of rendering, so that the page says that it failed.
        setResult(() => {
          throw error;
        });
      });
    }
    return () => stop.abort();
  }, [make]);
  return result;
}
