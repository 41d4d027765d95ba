import {
  type CooperativeTask,
  deltaBetween,
  emptySnapshot,
  equalJson,
  keyOfResource,
  kindKeyOf,
  type Resource,
  type Snapshot,
} from "@isthmus/core";
import { computeStatuses, type Statuses, type Translation, translatedFieldsOf, translateInSteps } from "@isthmus/translators";
import type { Fleet } from "../data/fleet.ts";
import type { KubernetesCluster } from "../data/kinds.ts";
import { registrationsIn } from "../model/clusters/registrations.ts";
import { conditionsOf } from "../model/status.ts";

/** What follows from the fleet as the browser has it, by the translators of the server. */
export interface FleetTranslation {
  /** What was translated, as it is shown. */
  readonly snapshot: Snapshot;
  readonly translation: Translation;
  readonly statuses: Statuses;
  /** How many generated objects are not as the server has them: nothing that is secret is here, and a server may be of another version. */
  readonly unlike: number;
}

/** Translates a fleet: at the cost of what changed since `before`. Discovered objects are those of the server. */
export function* fleetTranslation(fleet: Fleet, before: FleetTranslation | undefined): CooperativeTask<FleetTranslation> {
  const { snapshot, generated } = fleet;
  const { put, remove } = deltaBetween(before?.snapshot ?? emptySnapshot(), snapshot);
  yield;
  const inputs = (before?.translation.cache.given ?? emptySnapshot()).apply({ put: put.map(read), remove });
  yield;
  const translation = yield* translateInSteps(
    inputs,
    { namespace: fleet.source?.namespace ?? "gloo-mesh", stage: "networking", offline: offlineIn(fleet) },
    before?.translation,
  );
  const statuses = yield* computeStatuses(translation, undefined, before?.statuses);
  const isAsBefore = before !== undefined && before.translation.networking === translation.networking && before.snapshot === snapshot;
  const unlike = isAsBefore ? before.unlike : yield* countUnlike(translation, generated);
  return { snapshot, translation, statuses, unlike };
}

/** Statuses of what users write in the management cluster are answers, which translation does not read. */
function read(resource: Resource): Resource {
  return (resource.metadata.clusterName ?? "") === "" ? translatedFieldsOf(resource) : resource;
}

/** As the last leader has decided: docs/decisions/0088. */
function offlineIn(fleet: Fleet): ReadonlySet<string> {
  const isExcluded = (cluster: KubernetesCluster) =>
    conditionsOf(cluster).some(({ type, status }) => type === "EndpointsExcluded" && status === "True");
  return new Set(
    registrationsIn(fleet)
      .filter(isExcluded)
      .map(({ metadata }) => metadata.name),
  );
}

function* countUnlike({ networking }: Translation, generated: Snapshot): CooperativeTask<number> {
  let [unlike, known] = [0, 0];
  for (const { resource } of networking) {
    const other = generated.collections().get(kindKeyOf(resource))?.row(keyOfResource(resource));
    if (other !== undefined) known++;
    if (other === undefined || !equalJson(other, resource)) unlike++;
    yield;
  }
  let all = 0;
  for (const collection of generated.collections().values()) all += collection.size;
  return unlike + all - known;
}
