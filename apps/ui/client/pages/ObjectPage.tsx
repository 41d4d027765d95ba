import { kindKeyOf, refOf, resourceKeyOf } from "@isthmus/core";
import { Tabs } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import { CopyMenu } from "../components/CopyMenu.tsx";
import { Empty } from "../components/Empty.tsx";
import { ErrorBoundary } from "../components/ErrorBoundary.tsx";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { usePageTitle } from "../components/frame/usePageTitle.ts";
import { InsightCard } from "../components/InsightCard.tsx";
import { Loading } from "../components/Loading.tsx";
import { Name } from "../components/Name.tsx";
import { ClusterChip, objectOf } from "../components/ObjectLink.tsx";
import { ObjectState } from "../components/ObjectState.tsx";
import { YamlView } from "../components/YamlView.tsx";
import { KubernetesCluster, POLICY_KINDS } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { isInDoubt } from "../model/clusters/clusterImpact.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { generatedObjectsOf } from "../model/generatedObjects.ts";
import { insightsOfCluster } from "../model/insights/insightIndex.ts";
import { type ObjectParams, objectPath, refOfParams } from "../model/objectPath.ts";
import { t } from "../strings.ts";
import { Summary } from "../summaries/Summary.tsx";
import { AccessSlot } from "./AccessSlot.tsx";
import { ClusterImpact } from "./ClusterImpact.tsx";
import { EventsTab } from "./EventsTab.tsx";
import { GeneratedTab } from "./GeneratedTab.tsx";

// With the translators.
const EffectTab = lazy(() => import("../effect/EffectTab.tsx").then((module) => ({ default: module.EffectTab })));
const POLICIES: ReadonlySet<string> = new Set(POLICY_KINDS.map(kindKeyOf));
// More cards than anybody reads; the list of insights has filters.
const MOST_CARDS = 200;
const TABS = ["summary", "effect", "generated", "yaml", "events", "insights"] as const;

/** The page of any object: the same tabs for each kind. */
export function ObjectPage() {
  const params = useParams({ strict: false }) as ObjectParams;
  const fleet = useFleet();
  const [{ tab, field }, change] = usePageSearch();
  usePageTitle(`${params.kind} ${params.name}`);
  const object = objectOf(fleet, refOfParams(params));
  const generated = useMemo(() => (object === undefined ? [] : generatedObjectsOf(fleet, object)), [fleet, object]);
  if (object === undefined) return <Empty isPage title={t.objects.absent} how={t.objects.absentWhy} />;
  // A cluster has those of what is in it too, as all totals of clusters do.
  const isCluster = object.kind === KubernetesCluster.kind;
  const insights = isCluster
    ? insightsOfCluster(fleet, object.metadata.name)
    : (fleet.insights.row(resourceKeyOf(refOf(object)))?.insights ?? []);
  const counts = {
    summary: undefined,
    effect: undefined,
    generated: generated.length,
    yaml: undefined,
    events: undefined,
    insights: insights.filter(({ suppressed }) => suppressed === undefined).length,
  };
  const current = TABS.find((name) => name === tab) ?? "summary";
  const cluster = clusterOf(object);
  const { name, namespace = "" } = object.metadata;
  return (
    <div className="page">
      <header className="object-head">
        <div className="object-title">
          <p className="crumbs">
            <span className="kind">{object.kind}</span>
            {namespace === "" ? null : <Name text={namespace} />}
            {cluster === "" || object.kind === "KubernetesCluster" ? null : <ClusterChip name={cluster} />}
          </p>
          <h1>
            <Name text={name} />
          </h1>
        </div>
        <ObjectState object={object} />
        {POLICIES.has(kindKeyOf(object)) && cluster === "" ? (
          <Link className="button" to="/policies/what-if" search={{ of: objectPath(object) }}>
            {t.whatIf.edit}
          </Link>
        ) : null}
        <CopyMenu object={object} />
      </header>
      <Tabs
        value={current}
        onChange={(next) => change({ tab: next === "summary" || next === null ? undefined : next, view: undefined, field: undefined })}
        keepMounted={false}
      >
        <Tabs.List>
          {TABS.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {t.objects.tabs[each]}
              {counts[each] === undefined ? null : <span className="tab-count">{` ${counts[each]}`}</span>}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="summary">
          <ErrorBoundary key={resourceKeyOf(refOf(object))}>
            {object.kind === KubernetesCluster.kind && isInDoubt(fleet, name) ? (
              <ClusterImpact cluster={object as KubernetesCluster} />
            ) : null}
            <Summary object={object} access={<AccessSlot object={object} />} />
          </ErrorBoundary>
        </Tabs.Panel>
        <Tabs.Panel value="effect">
          <ErrorBoundary key={resourceKeyOf(refOf(object))}>
            <Suspense fallback={<Loading />}>
              <EffectTab object={object} />
            </Suspense>
          </ErrorBoundary>
        </Tabs.Panel>
        <Tabs.Panel value="generated">
          <GeneratedTab object={object} generated={generated} />
        </Tabs.Panel>
        <Tabs.Panel value="yaml">
          <YamlView value={object} label={`${object.kind} ${name}`} field={field} />
        </Tabs.Panel>
        <Tabs.Panel value="events">
          <EventsTab object={object} />
        </Tabs.Panel>
        <Tabs.Panel value="insights">
          {insights.length === 0 ? <p className="muted padded">{t.objects.insightsNone}</p> : null}
          {insights.slice(0, MOST_CARDS).map((insight) => (
            <InsightCard
              key={`${insight.code} ${resourceKeyOf(insight.object)} ${insight.field} ${insight.message}`}
              insight={insight}
              names={isCluster ? "both" : "code"}
            />
          ))}
          {insights.length > MOST_CARDS ? <p className="muted">{t.common.more(insights.length - MOST_CARDS)}</p> : null}
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}
