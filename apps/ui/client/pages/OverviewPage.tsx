import { explainedCode } from "@isthmus/insights/catalogue";
import { Link } from "@tanstack/react-router";
import { Page } from "../components/frame/Page.tsx";
import { useScope } from "../components/frame/useScope.ts";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { Severity } from "../components/Severity.tsx";
import { useFleet } from "../data/store.ts";
import { findingText, insightIndexOf } from "../model/insights/insightIndex.ts";
import { t } from "../strings.ts";
import { InsightTrend } from "./InsightTrend.tsx";
import { OverviewTiles } from "./OverviewTiles.tsx";
import { RecentChanges } from "./RecentChanges.tsx";

const MOST_FINDINGS = 8;

/** The fleet at a glance: totals that lead on, what needs attention, what changed last. */
export function OverviewPage() {
  return (
    <Page title={t.nav.overview}>
      <OverviewTiles />
      <div className="columns">
        <Attention />
        <RecentChanges />
      </div>
      <InsightTrend />
    </Page>
  );
}

function Attention() {
  const fleet = useFleet();
  const scope = useScope();
  const { byCode } = insightIndexOf(fleet, scope);
  return (
    <Section title={t.overview.attention} note={t.overview.attentionWhy}>
      {byCode.length === 0 ? (
        <p className="muted">
          {fleet.insightsAt === null ? t.overview.attentionUnknown : scope.size === 0 ? t.overview.attentionNone : t.scope.nothingWrong}
        </p>
      ) : null}
      <ul className="findings">
        {byCode.slice(0, MOST_FINDINGS).map(({ code, severity, insights, objects }) => (
          <li key={code}>
            <Severity severity={severity} />
            <Link to="/insights/$code" params={{ code }} className="code">
              {code}
            </Link>
            <span className="finding">
              <strong className="finding-title">{explainedCode(code)?.title}</strong>
              {insights[0] === undefined ? null : <ObjectLink to={insights[0].object} hasKind />}
              {insights[0] === undefined ? null : <Name text={findingText(insights[0])} isWrapped />}
              {objects > 1 ? <span className="muted"> {t.common.more(objects - 1)}</span> : null}
            </span>
          </li>
        ))}
      </ul>
      {byCode.length > MOST_FINDINGS ? <Link to="/insights">{t.overview.allInsights}</Link> : null}
    </Section>
  );
}
