import { insightsJson, insightsSarif, type PrintedInsight, type PrintedInsights } from "@isthmus/insights/report";
import type { Fleet } from "../../data/fleet.ts";
import { isInScope, NO_SCOPE, type Scope } from "../scope.ts";
import { clustersOfInsight } from "./insightIndex.ts";

/** How insights are saved. */
export const INSIGHT_FORMATS = ["SARIF", "JSON"] as const;

/** What is saved of insights: those of the clusters of a scope, suppressed ones with their reason, as `meshctl insights` prints them. */
export function insightFile(
  format: (typeof INSIGHT_FORMATS)[number],
  fleet: Fleet,
  scope: Scope = NO_SCOPE,
): { readonly name: string; readonly text: string } {
  const printed = printedInsights(fleet, scope);
  if (format === "JSON") return { name: "insights.json", text: insightsJson(printed) };
  return { name: "insights.sarif", text: insightsSarif(printed, { program: PROGRAM, version: fleet.source?.version ?? "" }) };
}

const PROGRAM = "gloo-mesh-ui";

function printedInsights(fleet: Fleet, scope: Scope): PrintedInsights {
  const all = [...fleet.insights].flatMap(({ insights }) => insights).filter((one) => isInScope(scope, clustersOfInsight(one, fleet)));
  return {
    shown: all.flatMap(({ suppressed, ...insight }): readonly PrintedInsight[] => (suppressed === undefined ? [insight] : [])),
    suppressed: all.flatMap(({ suppressed, ...insight }) => (suppressed === undefined ? [] : [{ ...suppressed, insight }])),
  };
}
