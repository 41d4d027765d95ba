import {
  AccessPolicy,
  Destination,
  KubernetesCluster,
  Mesh,
  Settings,
  TrafficPolicy,
  VirtualDestination,
  VirtualMesh,
  Workload,
} from "@isthmus/api";
import { type Kind, type Resource, snapshotOf } from "@isthmus/core";
import { type Insight, insightsOfRead } from "@isthmus/insights";
import { insightSentence, withPasteable } from "@isthmus/insights/report";
import { translate } from "@isthmus/translators";
import type { Check, CheckFinding } from "./check.ts";
import type { CheckCode } from "./codes.ts";
import type { PlaneObjects, PlaneState, StateInsights, StateName } from "./planeState.ts";

/** The kinds of what is read, by the part of the state. */
const KINDS: Readonly<Partial<Record<StateName, Kind>>> = {
  clusters: KubernetesCluster,
  settings: Settings,
  meshes: Mesh,
  workloads: Workload,
  destinations: Destination,
  trafficPolicies: TrafficPolicy,
  accessPolicies: AccessPolicy,
  virtualMeshes: VirtualMesh,
  virtualDestinations: VirtualDestination,
};

/** The insights that follow from what was read: the same rules that the server, `meshctl insights` and the console ask. `known`: the parts of the state that were read. */
export function insightsOfState(state: PlaneObjects, known: ReadonlySet<StateName>): StateInsights {
  const parts = (Object.entries(KINDS) as (readonly [keyof PlaneObjects, Kind])[]).filter(([part]) => known.has(part as StateName));
  const objects = snapshotOf(parts.flatMap(([part]) => state[part] as readonly Resource[]));
  const { namespace, now } = state;
  const translation = translate(objects, { namespace, stage: "networking" });
  const found = insightsOfRead(translation, { objects, kinds: parts.map(([, kind]) => kind), namespace, now });
  return {
    shown: found.flatMap(({ shown }) => shown),
    suppressed: found.flatMap(({ suppressed }) => suppressed.map(({ insight }) => insight)),
  };
}

/** A check that finds the insights of these codes. */
export function insightCheck(check: Omit<Check, "findings"> & { readonly codes: readonly CheckCode[] }): Check {
  return { ...check, findings: (state) => insightsWith(state, check.codes) };
}

/** The insights of some codes as findings. */
export function insightsWith(state: PlaneState, codes: readonly CheckCode[]): readonly CheckFinding[] {
  const asked = new Set<string>(codes);
  return state.insights().shown.flatMap((insight) => (asked.has(insight.code) ? [insightFinding(insight)] : []));
}

/** An insight as a finding of a check. */
export function insightFinding(insight: Insight): CheckFinding {
  const { text, command } = withPasteable(insight).remedy;
  return {
    code: insight.code,
    severity: insight.severity,
    message: insightSentence(insight),
    remedy: command === undefined ? text : `${text}: ${command}`,
  };
}
