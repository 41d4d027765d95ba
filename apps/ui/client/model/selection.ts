import { type Index, matchesLabels } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { Destination, Workload } from "../data/kinds.ts";

const DESTINATIONS_BY_PLACE: Index<Destination> = ({ spec }) => {
  const ref = spec?.kubeService?.ref;
  return ref === undefined ? [] : [`${ref.clusterName ?? ""}/${ref.namespace ?? ""}`];
};
const WORKLOADS_BY_PLACE: Index<Workload> = ({ spec }) => {
  const controller = spec?.kubernetes?.controller;
  return controller === undefined ? [] : [`${controller.clusterName ?? ""}/${controller.namespace ?? ""}`];
};

/** The workloads whose pods a Destination's Service selects. */
export function workloadsBehind(fleet: Fleet, destination: Destination): readonly Workload[] {
  const labels = destination.spec?.kubeService?.workloadSelectorLabels;
  const [place] = DESTINATIONS_BY_PLACE(destination);
  if (labels === undefined || place === undefined || Object.keys(labels).length === 0) return [];
  return fleet.snapshot
    .of(Workload)
    .where(WORKLOADS_BY_PLACE, place)
    .filter(({ spec }) => matchesLabels(labels, spec?.kubernetes?.podLabels ?? {}));
}

/** The Destinations whose Services select a workload's pods. */
export function destinationsOf(fleet: Fleet, workload: Workload): readonly Destination[] {
  const [place] = WORKLOADS_BY_PLACE(workload);
  if (place === undefined) return [];
  return fleet.snapshot
    .of(Destination)
    .where(DESTINATIONS_BY_PLACE, place)
    .filter(({ spec }) => {
      const labels = spec?.kubeService?.workloadSelectorLabels ?? {};
      return Object.keys(labels).length > 0 && matchesLabels(labels, workload.spec?.kubernetes?.podLabels ?? {});
    });
}
