import type { ObjectGeneration } from "@isthmus/console/wire";
import { messageOf, type Resource, refOf } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Name } from "../components/Name.tsx";
import { Section } from "../components/Section.tsx";
import { useServerNow, When } from "../components/Times.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { readGenerations } from "../data/past.ts";
import { useFleetState } from "../data/store.ts";
import { millisecondsOf, timeText } from "../model/age.ts";
import { objectPath, paramsOf } from "../model/objectPath.ts";
import { t } from "../strings.ts";

/** The generations of an object that the console's server remembers, each as it was then; nothing of a saved fleet. */
export function Generations({ object }: { readonly object: Resource }) {
  const now = useServerNow();
  const { live } = useFleetState();
  const [generations, setGenerations] = useState<readonly ObjectGeneration[]>();
  const [problem, setProblem] = useState<string>();
  const hasNone = live.source?.kind === "file" || object.metadata.generation === undefined;
  const key = `${objectPath(object)} ${object.metadata.generation ?? ""}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again when the object is another, or has another generation
  useEffect(() => {
    if (hasNone) return;
    const stop = new AbortController();
    readGenerations(object, stop.signal).then(
      (read) => {
        setGenerations(read);
        setProblem(undefined);
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setProblem(messageOf(error));
      },
    );
    return () => stop.abort();
  }, [key, hasNone]);
  if (hasNone) return null;
  const none = generations?.length === 0 ? t.events.generationsNone : t.events.generationsWhy;
  return (
    <Section title={t.events.generations} note={problem === undefined ? none : t.events.generationsFailed(problem)}>
      {generations === undefined || generations.length === 0 ? null : (
        <PlainTable
          label={t.events.generations}
          headers={[t.objects.generation, t.columns.since, t.columns.age, t.events.manager, t.events.asItWas]}
          rows={[...generations].reverse().map(({ at, generation, isAbsent, manager, cause }) => ({
            key: at,
            cells: [
              isAbsent ? t.events.absent : (generation ?? "–"),
              timeText(millisecondsOf(at) ?? 0, now),
              <When key="age" time={at} />,
              manager === undefined && cause === undefined ? (
                "–"
              ) : (
                <span key="origin" className="stack">
                  {manager === undefined ? null : <Name text={manager} isWrapped />}
                  {cause === undefined ? null : <Name text={cause} isWrapped />}
                </span>
              ),
              isAbsent ? (
                "–"
              ) : (
                <span key="then" className="inline">
                  <Link to="/object/$group/$kind/$cluster/$namespace/$name" params={paramsOf(refOf(object))} search={{ at, tab: "yaml" }}>
                    {t.objects.tabs.yaml}
                  </Link>
                  <Link to="/changes" search={{ at }}>
                    {t.past.link}
                  </Link>
                </span>
              ),
            ],
          }))}
        />
      )}
    </Section>
  );
}
