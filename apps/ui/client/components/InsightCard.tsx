import type { ConsoleInsight } from "@isthmus/console/wire";
import { Link } from "@tanstack/react-router";
import { findingText } from "../model/insights/insightIndex.ts";
import { t } from "../strings.ts";
import { Command } from "./Command.tsx";
import { Evidence } from "./Evidence.tsx";
import { Facts } from "./Facts.tsx";
import { Name } from "./Name.tsx";
import { ObjectLink } from "./ObjectLink.tsx";
import { Severity } from "./Severity.tsx";
import { When } from "./Times.tsx";

export interface InsightCardProps {
  readonly insight: ConsoleInsight;
  /** What leads on: the object, its code where the page is about the object itself, or both. */
  readonly names?: "object" | "code" | "both";
}

const MOST_TARGETS = 20;

/** One insight: what, where, and what to do about it. */
export function InsightCard({ insight, names = "object" }: InsightCardProps) {
  const { code, severity, object, field, remedy, nearMiss, targets = [], since, suppressed } = insight;
  return (
    <article className="card">
      <header className="card-head">
        <Severity severity={severity} />
        {names === "object" ? null : (
          <Link to="/insights/$code" params={{ code }}>
            {code}
            <span className="visually-hidden">{`: ${t.insights.meaningOf(code)}`}</span>
          </Link>
        )}
        {names === "code" ? null : <ObjectLink to={object} hasKind />}
        <span className="muted">
          <When time={since} />
        </span>
      </header>
      <p className="card-message">
        <Name text={findingText(insight)} isWrapped />
      </p>
      <Facts
        rows={[
          [t.insights.field, field === "" ? undefined : <Name key="field" text={field} isWrapped />],
          [t.insights.nearMiss, nearMiss === undefined ? undefined : <Name key="near" text={nearMiss} isWrapped />],
          [
            t.insights.targets,
            targets.length === 0 ? undefined : (
              <span className="stack" key="targets">
                {targets.slice(0, MOST_TARGETS).map((target) => (
                  <ObjectLink key={`${target.kind}/${target.namespace}/${target.name}/${target.clusterName}`} to={target} hasKind />
                ))}
                {targets.length > MOST_TARGETS ? <span>{t.common.more(targets.length - MOST_TARGETS)}</span> : null}
              </span>
            ),
          ],
          [t.insights.remedy, <Name key="remedy" text={remedy.text} isWrapped />],
          [
            t.insights.suppressedBecause,
            suppressed === undefined ? undefined : (
              <span key="suppressed">
                <Name text={suppressed.reason} isWrapped /> {suppressed.until === undefined ? null : t.insights.until(suppressed.until)}
              </span>
            ),
          ],
        ]}
      />
      <Evidence object={object} field={field} />
      {remedy.command === undefined ? null : <Command text={remedy.command} />}
      {remedy.patch === undefined || remedy.command !== undefined ? null : <Command text={remedy.patch} what={t.insights.patch} />}
    </article>
  );
}
