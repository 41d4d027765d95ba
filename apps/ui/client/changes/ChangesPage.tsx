import type { Resource } from "@isthmus/core";
import { useEffect, useRef, useState } from "react";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/Page.tsx";
import { PartialNote } from "../components/PartialNote.tsx";
import { ScopeNote } from "../components/ScopeNote.tsx";
import { useServerNow } from "../components/Times.tsx";
import { useScope } from "../components/useScope.ts";
import { useFleetState } from "../data/store.ts";
import { OutputChanges } from "../effect/OutputChanges.tsx";
import { timeText } from "../model/age.ts";
import { clusterOf } from "../model/clusterOf.ts";
import { type FleetChanges, fleetChanges } from "../model/fleetChanges.ts";
import { isInScope } from "../model/scope.ts";
import { t } from "../strings.ts";
import { inSlices } from "../translation/slices.ts";
import "../styles/whatIf.css";

/** What differs between an earlier time and now. */
export function ChangesPage() {
  const { fleet, live } = useFleetState();
  const now = useServerNow();
  const scope = useScope();
  const [changes, setChanges] = useState<FleetChanges>();
  const [round, setRound] = useState(0);
  const latest = useRef(live);
  latest.current = live;
  const isBefore = fleet.past !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` makes it compare again
  useEffect(() => {
    setChanges(undefined);
    if (!isBefore || !live.isReady) return;
    const stop = new AbortController();
    inSlices(fleetChanges(fleet, latest.current), stop.signal).then(setChanges, (error: unknown) => {
      if (stop.signal.aborted) return;
      setChanges(() => {
        throw error;
      });
    });
    return () => stop.abort();
  }, [fleet, isBefore, live.isReady, round]);
  if (!isBefore) return <Empty isPage title={t.past.title} how={t.past.choose} />;
  return (
    <Page title={t.past.title}>
      <p className="note">{t.past.why(timeText(Date.parse(fleet.past ?? ""), now))}</p>
      <PartialNote text="compared" />
      <p>
        <button type="button" className="button" onClick={() => setRound(round + 1)}>
          {t.past.again}
        </button>
      </p>
      {scope.size === 0 ? null : <ScopeNote scope={scope} />}
      {changes === undefined ? (
        <p role="status">{t.past.comparing}</p>
      ) : (
        (["objects", "generated"] as const).map((which) => (
          <OutputChanges
            key={which}
            title={t.past[which]}
            none={t.past.same}
            changes={changes[which].filter(({ before, after }) => isInScope(scope, clustersIn(before, after)))}
          />
        ))
      )}
    </Page>
  );
}

function clustersIn(...objects: readonly (Resource | undefined)[]): readonly string[] {
  return objects.flatMap((object) => (object === undefined ? [] : [clusterOf(object)]));
}
