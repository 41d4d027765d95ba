import type { EndpointTier, Leg } from "@isthmus/translators";
import { type LostHost, legsJson } from "../offline/whatIf/lostHosts.ts";
import { NOT_KNOWN } from "../offline/whatIf/whatIf.ts";
import { columnsText } from "../output/columns.ts";
import { type DataFormat, dataText } from "./dataText.ts";

/** What becomes of hosts, as a table; where requests went before is left out of a narrow one. */
export function whatIfTable(hosts: readonly LostHost[], width: number | undefined): string {
  if (hosts.length === 0) return "";
  const isWide = width === undefined || width >= WIDE;
  const rows = hosts.map((lost) => [
    lost.outcome,
    lost.host,
    lost.callers.join(","),
    nowText(lost),
    ...(isWide ? [legsText(lost.before, lost.host)] : []),
  ]);
  return columnsText(["RESULT", "HOST", "CALLED FROM", "NOW", ...(isWide ? ["BEFORE"] : [])], rows, { width, isSentenceLast: true });
}

const WIDE = 100;

/** The same for programs. */
export function whatIfData(hosts: readonly LostHost[], without: readonly string[], format: DataFormat): string {
  const entries = hosts.map(({ outcome, kind, host, callers, before, now, elsewhere }) => ({
    result: outcome,
    kind,
    host,
    callers,
    before: legsJson(before),
    now: legsJson(now),
    ...(outcome === "ELSEWHERE" ? { elsewhere } : {}),
  }));
  return dataText({ without, hosts: entries, notKnown: NOT_KNOWN }, format);
}

function nowText({ outcome, host, now, elsewhere }: LostHost): string {
  if (outcome === "NO_TARGET") return NOWHERE;
  if (outcome === "ELSEWHERE") return elsewhere.join(", ");
  // What fails is what is looked for.
  return legsText(
    [...now].sort((a, b) => Math.min(1, a.tiers.length) - Math.min(1, b.tiers.length)),
    host,
  );
}

/** `east, then north+west`; shares of the requests with where they are shifted. */
function legsText(legs: readonly Leg[], host: string): string {
  return legs
    .map((leg) => {
      const share = leg.weight === 100 ? "" : `${leg.weight}% `;
      const target = [...(leg.host === host ? [] : [leg.host]), ...(leg.subset === "" ? [] : [leg.subset])].join(", ");
      return `${share}${leg.tiers.map(tierText).join(", then ") || NOWHERE}${target === "" ? "" : ` (${target})`}`;
    })
    .join("; ");
}

const NOWHERE = "nowhere";

function tierText(tier: EndpointTier): string {
  return [...tier.keys()].sort().join("+");
}
