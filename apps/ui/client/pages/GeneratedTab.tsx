import { kindKeyOf, type Resource } from "@isthmus/core";
import { lazy, Suspense } from "react";
import { Choices } from "../components/Choices.tsx";
import { ErrorBoundary } from "../components/ErrorBoundary.tsx";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { GeneratedList } from "../components/GeneratedList.tsx";
import { Loading } from "../components/Loading.tsx";
import { POLICY_KINDS } from "../data/kinds.ts";
import type { GeneratedObject } from "../model/generatedObjects.ts";
import { t } from "../strings.ts";

// With the translators.
const BeforeAndAfter = lazy(() => import("../effect/BeforeAndAfter.tsx").then((module) => ({ default: module.BeforeAndAfter })));
const POLICIES: ReadonlySet<string> = new Set(POLICY_KINDS.map(kindKeyOf));
const VIEWS = ["all", "compared"] as const;

export interface GeneratedTabProps {
  readonly object: Resource;
  readonly generated: readonly GeneratedObject[];
}

/** What is generated because of an object; of a policy also what it makes of the objects that would be there without it. */
export function GeneratedTab({ object, generated }: GeneratedTabProps) {
  const [{ view }, change] = usePageSearch();
  if (!POLICIES.has(kindKeyOf(object))) return <GeneratedList objects={generated} />;
  const chosen = view === "compared" ? view : "all";
  return (
    <>
      <Choices
        label={t.generated.view}
        choices={VIEWS}
        chosen={chosen}
        textOf={(each) => t.generated.views[each]}
        choose={(each) => change({ view: each === "compared" ? each : undefined })}
      />
      {chosen === "all" ? (
        <GeneratedList objects={generated} />
      ) : (
        <ErrorBoundary>
          <Suspense fallback={<Loading />}>
            <BeforeAndAfter policy={object} />
          </Suspense>
        </ErrorBoundary>
      )}
    </>
  );
}
