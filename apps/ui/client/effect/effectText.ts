import type { HttpMatchRequest, HttpRoute } from "@isthmus/api";
import type { EffectValue, EndpointTier, Leg } from "@isthmus/translators";
import { valueText } from "../model/effect.ts";
import { t } from "../strings.ts";

/** Which requests a route is for, in one line. */
export function matchText(match: HttpMatchRequest): string {
  return Object.keys(match).length === 0 ? t.destinations.allRequests : valueText(match);
}

/** A value of the mesh's own object in one line: of a route its targets with their shares. */
export function effectValueText({ field, value }: EffectValue): string {
  if (field !== "route" || !Array.isArray(value)) return valueText(value);
  return (value as NonNullable<HttpRoute["route"]>)
    .map(({ destination, weight }) => {
      const { host = "", subset = "" } = destination ?? {};
      return `${weight ?? 100} % → ${host}${subset === "" ? "" : ` (${subset})`}`;
    })
    .join(" · ");
}

/** Where a part of the requests goes: `cluster-1 2, then cluster-2 1`, numbers of endpoints. */
export function tiersText({ tiers }: Pick<Leg, "tiers">): string {
  return tiers.length === 0 ? t.effect.nowhere : tiers.map(tierText).join(`, ${t.effect.afterwards} `);
}

function tierText(tier: EndpointTier): string {
  return [...tier]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([cluster, count]) => `${cluster} (${count})`)
    .join(" + ");
}
