import { Destination, Mesh, Service, VirtualDestination } from "@isthmus/api";
import { displayName, formatRef, nearestName, type Report } from "@isthmus/core";
import type { KnownObjects } from "./knownObjects.ts";

// Who has so many has another trouble than a typing mistake.
const MOST_HINTS = 100;

/** The same reports; those of a name that nothing has say whether it is that of a rejected object, or which name was probably meant. */
export function withNearMisses(reports: readonly Report[], known: KnownObjects): readonly Report[] {
  let hints = 0;
  return reports.map((report) => {
    const candidates = CANDIDATES[report.code];
    if (candidates === undefined || hints++ >= MOST_HINTS) return report;
    const [path = ""] = report.message.split(": ", 1);
    const given = known.given(report.subject, path);
    const hint = rejectedObject(given, path, known) ?? nearMiss(given, candidates(known));
    return hint === undefined ? report : { ...report, message: `${report.message}${hint}` };
  });
}

function nearMiss(given: unknown, candidates: readonly Name[]): string | undefined {
  const near = nearest(given, candidates);
  return near === undefined ? undefined : ` (did you mean ${near}?)`;
}

/** An object of the given name that the input has, and that cannot be used: its name is not the mistake. */
function rejectedObject(given: unknown, path: string, known: KnownObjects): string | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { name, namespace, clusterName } = nameOf(given);
  const kinds = path.endsWith(".virtualDestination") ? [VirtualDestination.kind] : [Service.kind, Mesh.kind];
  const found = known.rejected.find(
    ({ ref }) =>
      ref !== undefined &&
      kinds.includes(ref.kind) &&
      ref.name === name &&
      ref.namespace === namespace &&
      (ref.clusterName ?? "") === clusterName,
  );
  return found?.ref === undefined ? undefined : `; ${formatRef(found.ref)} is in the input, and is rejected: correct it first`;
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
