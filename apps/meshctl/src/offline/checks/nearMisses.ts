import { Destination, Mesh } from "@isthmus/api";
import { displayName, nearestName, type Report } from "@isthmus/core";
import type { KnownObjects } from "./knownObjects.ts";

// Who has so many has another trouble than a typing mistake.
const MOST_HINTS = 100;

/** The same reports; those of a name that nothing has say which name was probably meant. */
export function withNearMisses(reports: readonly Report[], known: KnownObjects): readonly Report[] {
  let hints = 0;
  return reports.map((report) => {
    const candidates = CANDIDATES[report.code];
    if (candidates === undefined || hints++ >= MOST_HINTS) return report;
    const [path = ""] = report.message.split(": ", 1);
    const near = nearest(known.given(report.subject, path), candidates(known));
    return near === undefined ? report : { ...report, message: `${report.message} (did you mean ${near}?)` };
  });
}

interface Name {
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
}

const CANDIDATES: Readonly<Record<string, (known: KnownObjects) => readonly Name[]>> = {
  DestinationUnknown: services,
  TrafficShiftTargetUnknown: services,
  MirrorTargetUnknown: services,
  MeshUnknown: (known) => known.of(Mesh).map(({ metadata }) => nameOf(metadata)),
};

function services(known: KnownObjects): readonly Name[] {
  return known.of(Destination).flatMap(({ spec }) => (spec?.kubeService?.ref === undefined ? [] : [nameOf(spec.kubeService.ref)]));
}

function nameOf(fields: { readonly [F in keyof Name]?: string }): Name {
  return { name: "", namespace: "", clusterName: "", ...fields };
}

/** The candidate that differs in one part, by little; the name before the cluster before the namespace. */
function nearest(given: unknown, candidates: readonly Name[]): string | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const wanted = nameOf(given);
  for (const part of ["name", "clusterName", "namespace"] as const) {
    const others = (["name", "namespace", "clusterName"] as const).filter((other) => other !== part);
    const near = candidates.filter((candidate) => others.every((other) => candidate[other] === wanted[other]));
    const value = nearestName(
      wanted[part],
      near.map((candidate) => candidate[part]),
    );
    if (value !== undefined) return displayName({ ...wanted, [part]: value });
  }
  return undefined;
}
