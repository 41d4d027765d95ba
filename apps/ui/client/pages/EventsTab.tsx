import type { Resource } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { Name } from "../components/Name.tsx";
import { ToneShape } from "../components/StatusMark.tsx";
import { useServerNow, When } from "../components/Times.tsx";
import { useFleet } from "../data/store.ts";
import { timeText } from "../model/age.ts";
import { objectEvents } from "../model/objectEvents.ts";
import { t } from "../strings.ts";
import { Generations } from "./Generations.tsx";

/** What happened to an object and when, as far as anybody has kept it; and what nobody has. */
export function EventsTab({ object }: { readonly object: Resource }) {
  const fleet = useFleet();
  const now = useServerNow();
  const events = useMemo(() => objectEvents(fleet, object), [fleet, object]);
  return (
    <>
      <p className="note">{t.events.contains}</p>
      {events.length === 0 ? <p className="muted padded">{t.events.none}</p> : null}
      <ol className="timeline" aria-label={t.objects.tabs.events}>
        {events.map(({ key, time, tone, what, message, code }) => (
          <li key={key}>
            <span className="timeline-time">
              <span className="number">{timeText(Date.parse(time), now)}</span>
              <span className="muted">
                <When time={time} />
              </span>
            </span>
            <ToneShape tone={tone} />
            <span className="timeline-what">
              <strong>{what}</strong>
              {code === undefined ? null : (
                <>
                  {" "}
                  <Link to="/insights/$code" params={{ code }}>
                    {code}
                  </Link>
                </>
              )}
              {message === "" ? null : (
                <>
                  {" "}
                  <Name text={message} isWrapped />
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
      <Generations object={object} />
    </>
  );
}
