import { fullKeyOf, refOf } from "@isthmus/core";
import { useMemo } from "react";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { ToneShape } from "../components/StatusMark.tsx";
import { When } from "../components/Times.tsx";
import { useFleet } from "../data/store.ts";
import { recentChanges } from "../model/recentChanges.ts";
import { conditionStatus } from "../model/status.ts";
import { t } from "../strings.ts";

/** The conditions that changed last. */
export function RecentChanges() {
  const { snapshot } = useFleet();
  const changes = useMemo(() => recentChanges(snapshot), [snapshot]);
  return (
    <Section title={t.overview.changes}>
      {changes.length === 0 ? <p className="muted">{t.overview.changesNone}</p> : null}
      <ul className="changes">
        {changes.map(({ object, condition }) => (
          <li key={`${fullKeyOf(object)} ${condition.type}`}>
            <span className="muted">
              <When time={condition.lastTransitionTime} />
            </span>
            <span className="change">
              <ObjectLink to={refOf(object)} hasKind />
              <span className="change-what">
                <ToneShape tone={conditionStatus(condition).tone} />
                <strong>{`${condition.type} ${condition.status ?? ""}`}</strong> <Name text={condition.message ?? ""} isWrapped />
              </span>
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
