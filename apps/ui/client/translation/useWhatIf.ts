import type { Resource } from "@isthmus/core";
import { useEffect, useState } from "react";
import type { FleetTranslation } from "./fleetTranslation.ts";
import { inSlices } from "./slices.ts";
import { type WhatIf, whatIf } from "./whatIf.ts";

/** What would follow from policies; that of the last ones while it is found out again, undefined without policies. */
export function useWhatIf(base: FleetTranslation | undefined, objects: readonly Resource[]): WhatIf | undefined {
  const [result, setResult] = useState<WhatIf>();
  useEffect(() => {
    if (base === undefined || objects.length === 0) {
      setResult(undefined);
      return;
    }
    const stop = new AbortController();
    inSlices(whatIf(base, objects), stop.signal).then(setResult, (error: unknown) => {
      if (stop.signal.aborted) return;
      setResult(() => {
        throw error;
      });
    });
    return () => stop.abort();
  }, [base, objects]);
  return result;
}
