import { messageOf, type Resource } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/frame/Page.tsx";
import { ScopeNote } from "../components/frame/ScopeNote.tsx";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { useScope } from "../components/frame/useScope.ts";
import { PartialNote } from "../components/PartialNote.tsx";
import { useServerNow } from "../components/Times.tsx";
import type { Fleet } from "../data/fleet.ts";
import { readPast } from "../data/past.ts";
import { useFleetState } from "../data/store.ts";
import { OutputChanges } from "../effect/OutputChanges.tsx";
import { timeText } from "../model/age.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { type FleetChanges, fleetChanges } from "../model/history/fleetChanges.ts";
import { isInScope } from "../model/scope.ts";
import { t } from "../strings.ts";
import { inSlices } from "../translation/slices.ts";
import "../styles/whatIf.css";

/** What differs between an earlier time and now. */
export function ChangesPage() {
  const { fleet, live } = useFleetState();
  const [{ until }] = usePageSearch();
  const later = useLater(until);
  const now = useServerNow();
  const scope = useScope();
  const [changes, setChanges] = useState<FleetChanges>();
  const [round, setRound] = useState(0);
  const latest = useRef(live);
  latest.current = until === undefined ? live : (later.fleet ?? live);
  const isBefore = fleet.past !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` makes it compare again
  useEffect(() => {
    setChanges(undefined);
    if (!isBefore || !live.isReady || (until !== undefined && later.fleet === undefined)) return;
    const stop = new AbortController();
    inSlices(fleetChanges(fleet, latest.current), stop.signal).then(setChanges, (error: unknown) => {
      if (stop.signal.aborted) return;
      setChanges(() => {
        throw error;
      });
    });
    return () => stop.abort();
  }, [fleet, isBefore, live.isReady, round, until, later.fleet]);
  if (!isBefore) {
    return (
      <Empty isPage title={t.past.title} how={t.past.choose}>
        <Link className="button" to="/debug" search={{ view: "snapshots" }}>
          {t.overview.moments}
        </Link>
      </Empty>
    );
  }
  return (
    <Page title={t.past.title}>
      <p className="note">
        {t.past.why(timeText(Date.parse(fleet.past ?? ""), now), until === undefined ? t.past.whyNow : timeText(Date.parse(until), now))}
      </p>
      <PartialNote text="compared" />
      <p>
        <button type="button" className="button" onClick={() => setRound(round + 1)}>
          {t.past.again}
        </button>
      </p>
      {scope.size === 0 ? null : <ScopeNote scope={scope} />}
      {later.problem !== undefined ? (
        <p role="alert">{t.past.failed(later.problem)}</p>
      ) : changes === undefined ? (
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

/** The fleet of the time with which the comparison ends, where that is not now. */
function useLater(until: string | undefined): { readonly fleet?: Fleet; readonly problem?: string } {
  const [read, setRead] = useState<{ readonly until: string; readonly fleet?: Fleet; readonly problem?: string }>();
  useEffect(() => {
    if (until === undefined) return;
    const stop = new AbortController();
    readPast(until, stop.signal).then(
      (fleet) => setRead({ until, fleet }),
      (error: unknown) => {
        if (!stop.signal.aborted) setRead({ until, problem: messageOf(error) });
      },
    );
    return () => stop.abort();
  }, [until]);
  return read?.until === until ? (read ?? {}) : {};
}
