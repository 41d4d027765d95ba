import { type Destination, meshInstallationOf, type VirtualDestinationSpec } from "@isthmus/api";
import { keptText } from "@isthmus/core";
import { type Finding, warningFinding } from "../../findings.ts";
import type { MeshWithGateways } from "../../meshes/inputs.ts";
import { isStatic } from "../../policy/virtualDestinations/virtualDestinationFindings.ts";

/** Failover directives that are about no mesh, or name regions without a destination: most likely misspelt. */
export function regionFindings(
  spec: VirtualDestinationSpec,
  exports: readonly MeshWithGateways[],
  targets: readonly Destination[],
): readonly Finding[] {
  if (isStatic(spec) || exports.length === 0 || targets.length === 0) return [];
  const calling = regionsIn(exports.map(({ mesh }) => meshInstallationOf(mesh)?.region));
  const called = regionsIn(targets.map((target) => target.spec?.kubeService?.region));
  return (spec.localized?.failoverDirectives ?? []).flatMap(({ from, to = [] }, i) => {
    const path = `spec.localized.failoverDirectives[${i}]`;
    return [
      ...unknownRegion(`${path}.from.region`, from?.region, { known: calling, what: "no mesh that can call the host" }),
      ...to.flatMap(({ region }, j) =>
        unknownRegion(`${path}.to[${j}].region`, region, { known: called, what: "none of the destinations" }),
      ),
    ];
  });
}

function regionsIn(regions: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(regions.flatMap((region) => region || []))].sort();
}

function unknownRegion(
  path: string,
  region: string | undefined,
  { known, what }: { readonly known: readonly string[]; readonly what: string },
): readonly Finding[] {
  if (!region || known.includes(region)) return [];
  const list = known.slice(0, MOST_REGIONS).join(", ") || "none";
  return [
    warningFinding(
      "RegionUnknown",
      `${path}: ${what} is in region ${keptText(region, MOST_LETTERS)}, only in ${list}: check the region of the nodes`,
    ),
  ];
}

const MOST_REGIONS = 10;
const MOST_LETTERS = 63;
