import type { Resource } from "@isthmus/core";
import { lazy, Suspense, useState } from "react";
import { ErrorBoundary } from "../components/ErrorBoundary.tsx";
import { Destination, VirtualMesh, Workload } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { t } from "../strings.ts";

// With the translators.
const ObjectAccess = lazy(() => import("../access/ObjectAccess.tsx").then((module) => ({ default: module.ObjectAccess })));
const KINDS: ReadonlySet<string> = new Set([Destination.kind, VirtualMesh.kind, Workload.kind]);
// Translating more takes seconds, and holds the fleet in memory once more: only who asks for it waits.
const MOST_AT_ONCE = 2_000;

/** Who may call whom, as far as an object is concerned; of a large fleet when somebody asks for it. Nothing for kinds that it is not about. */
export function AccessSlot({ object }: { readonly object: Resource }) {
  const { snapshot } = useFleet();
  const [isAsked, setIsAsked] = useState(false);
  if (!KINDS.has(object.kind)) return null;
  if (!isAsked && snapshot.of(Destination).size + snapshot.of(Workload).size > MOST_AT_ONCE) {
    return (
      <button type="button" className="button small" onClick={() => setIsAsked(true)}>
        {t.access.compute}
      </button>
    );
  }
  return (
    <ErrorBoundary>
      <Suspense fallback={<p className="muted">{t.access.computing}</p>}>
        <ObjectAccess object={object} />
      </Suspense>
    </ErrorBoundary>
  );
}
