import { type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { useEffect, useMemo, useState } from "react";
import type { FleetTranslation } from "./fleetTranslation.ts";
import { inSlices } from "./slices.ts";
import { type OutputChange, withoutPolicy } from "./whatIf.ts";

/** What is in clusters because of a policy; that of the last translation while it is found out again. */
export function useWithoutPolicy(base: FleetTranslation | undefined, policy: Resource): readonly OutputChange[] | undefined {
  const { apiVersion, kind, name, namespace, clusterName } = refOf(policy);
  const ref = useMemo(
    (): ResourceRef => ({ apiVersion, kind, name, namespace, clusterName }),
    [apiVersion, kind, name, namespace, clusterName],
  );
  const [result, setResult] = useState<{ readonly of: ResourceRef; readonly changes: readonly OutputChange[] }>();
  useEffect(() => {
    if (base === undefined) return;
    const stop = new AbortController();
    inSlices(withoutPolicy(base, ref), stop.signal).then(
      (changes) => setResult({ of: ref, changes }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        setResult(() => {
          throw error;
        });
      },
    );
    return () => stop.abort();
  }, [base, ref]);
  return result?.of === ref ? result.changes : undefined;
}
