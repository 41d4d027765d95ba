import { fullKeyOf, refOf } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useScope } from "../components/frame/useScope.ts";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { ToneShape } from "../components/StatusMark.tsx";
import { When } from "../components/Times.tsx";
import { useFleet } from "../data/store.ts";
import { recentChanges } from "../model/history/recentChanges.ts";
import { isInScope, policyClusters } from "../model/scope.ts";
import { conditionStatus } from "../model/status.ts";
import { t } from "../strings.ts";

/** The conditions that changed last. */
export function RecentChanges() {
  const fleet = useFleet();
  const { snapshot } = fleet;
  const scope = useScope();
  // biome-ignore lint/correctness/useExhaustiveDependencies: of the fleet only the snapshot is read
  const changes = useMemo(() => recentChanges(snapshot, (object) => isInScope(scope, policyClusters(fleet, object))), [snapshot, scope]);
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
      {fleet.source?.kind === "file" ? null : (
        <Link to="/debug" search={{ view: "snapshots" }}>
          {t.overview.moments}
        </Link>
      )}
    </Section>
  );
}
