import { type Index, keyOf, matchesLabels, type Snapshot } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { Mesh, Sidecar, type Workload } from "../data/kinds.ts";

/** For whom a Sidecar is written: pods that it selects, all of its namespace, or all of the mesh. In the order in which Istio looks. */
export type SidecarLevel = "selector" | "namespace" | "root";

/** What limits the hosts that a workload's proxy knows. */
export interface SidecarScope {
  readonly level: SidecarLevel;
  /** Those of that level: of several Istio takes one, and nobody knows which. */
  readonly sidecars: readonly { readonly sidecar: Sidecar; readonly isGenerated: boolean }[];
}

/**
 * The Sidecar that applies to a workload, of those that its cluster reports and of those that are to be written there; undefined: none, so that the proxy knows all hosts that are exported to its
 * namespace, or the workload is in no Istio mesh. A Sidecar of the root namespace counts for others only without a selector. Source: istio.io/docs/reference/config/networking/sidecar.
 */
export function sidecarScope({ snapshot, generated }: Pick<Fleet, "snapshot" | "generated">, { spec }: Workload): SidecarScope | undefined {
  const { controller, podLabels = {} } = spec?.kubernetes ?? {};
  const { name = "", namespace: of = "" } = spec?.mesh ?? {};
  const istio = snapshot.of(Mesh).row(keyOf({ name, namespace: of, clusterName: "" }))?.spec?.istio;
  if (controller === undefined || istio === undefined) return undefined;
  const { clusterName = "", namespace = "" } = controller;
  const own = sidecarsIn({ snapshot, generated }, `${clusterName}/${namespace}`);
  const root = istio.rootNamespace || (istio.installation?.namespace ?? "");
  const levels: readonly (readonly [SidecarLevel, SidecarScope["sidecars"]])[] = [
    ["selector", own.filter(({ sidecar }) => !isForAll(sidecar) && matchesLabels(sidecar.spec?.workloadSelector?.labels ?? {}, podLabels))],
    ["namespace", own.filter(({ sidecar }) => isForAll(sidecar))],
    ["root", root === "" ? [] : sidecarsIn({ snapshot, generated }, `${clusterName}/${root}`).filter(({ sidecar }) => isForAll(sidecar))],
  ];
  const found = levels.find(([, sidecars]) => sidecars.length > 0);
  return found && { level: found[0], sidecars: found[1] };
}

const BY_PLACE: Index<Sidecar> = ({ metadata: { namespace = "", clusterName = "" } }) => [`${clusterName}/${namespace}`];

function sidecarsIn({ snapshot, generated }: Pick<Fleet, "snapshot" | "generated">, place: string): SidecarScope["sidecars"] {
  const of = (from: Snapshot) => from.of(Sidecar).where(BY_PLACE, place);
  const reported = of(snapshot);
  // Where somebody else has the name, theirs stays.
  const taken = new Set(reported.map(({ metadata }) => metadata.name));
  return [
    ...reported.map((sidecar) => ({ sidecar, isGenerated: false })),
    ...of(generated)
      .filter(({ metadata }) => !taken.has(metadata.name))
      .map((sidecar) => ({ sidecar, isGenerated: true })),
  ];
}

function isForAll({ spec }: Sidecar): boolean {
  return Object.keys(spec?.workloadSelector?.labels ?? {}).length === 0;
}

/** The hosts that a Sidecar lets its proxies know, as `namespace/host`; undefined: it does not say, so all. */
export function egressHosts({ spec }: Sidecar): readonly string[] | undefined {
  const egress = spec?.egress ?? [];
  return egress.length === 0 ? undefined : [...new Set(egress.flatMap(({ hosts = [] }) => hosts))];
}
