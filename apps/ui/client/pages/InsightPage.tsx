import { explainedCode } from "@isthmus/insights/catalogue";
import { Link, useParams } from "@tanstack/react-router";
import { ScopeNote } from "../components/frame/ScopeNote.tsx";
import { usePageTitle } from "../components/frame/usePageTitle.ts";
import { useScope } from "../components/frame/useScope.ts";
import { InsightCard } from "../components/InsightCard.tsx";
import { Name } from "../components/Name.tsx";
import { Section } from "../components/Section.tsx";
import { useFleet } from "../data/store.ts";
import { insightIndexOf } from "../model/insights/insightIndex.ts";
import { t } from "../strings.ts";
import { CodeMeaning } from "./CodeMeaning.tsx";

// More cards than anybody reads; the table of objects has filters.
const MOST_CARDS = 200;

/** What a code means, and all insights that have it, with what to do about each. */
export function InsightPage() {
  const { code = "" } = useParams({ strict: false });
  usePageTitle(code);
  const known = explainedCode(code);
  const scope = useScope();
  const { byCode, suppressed } = insightIndexOf(useFleet(), scope);
  const groups = [
    { title: t.insights.active, insights: byCode.find((group) => group.code === code)?.insights ?? [] },
    { title: t.insights.suppressed, insights: suppressed.find((group) => group.code === code)?.insights ?? [] },
  ];
  const isEmpty = groups.every(({ insights }) => insights.length === 0);
  return (
    <div className="page">
      <p className="crumbs">
        <Link to="/insights">{t.insights.back}</Link>
      </p>
      <h1>
        <Name text={code} />
        {known === undefined ? null : <span className="heading-more"> {known.title}</span>}
      </h1>
      {known === undefined ? null : (
        <p>
          {known.meaning} {known.consequence}
        </p>
      )}
      {scope.size === 0 ? null : <ScopeNote scope={scope} />}
      {isEmpty ? <p className="muted">{t.insights.none(code.slice(0, 40))}</p> : null}
      {groups.map(({ title, insights }) =>
        insights.length === 0 ? null : (
          <Section key={title} title={`${title} · ${insights.length}`}>
            {insights.slice(0, MOST_CARDS).map((insight) => (
              <InsightCard
                key={`${insight.object.kind}/${insight.object.namespace}/${insight.object.name}/${insight.object.clusterName}/${insight.field}/${insight.message}`}
                insight={insight}
              />
            ))}
            {insights.length > MOST_CARDS ? <p className="muted">{t.common.more(insights.length - MOST_CARDS)}</p> : null}
          </Section>
        ),
      )}
      <CodeMeaning code={code} />
    </div>
  );
}
