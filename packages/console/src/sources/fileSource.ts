import { type Kind, kindKeyOf, type Resource, refOf, runToCompletion, type Snapshot, snapshotOf } from "@isthmus/core";
import { historyAfter, insightsOf, intendedNames, NO_HISTORY, objectChanges } from "@isthmus/insights";
import { type Statuses, statusesAfter, type Translation } from "@isthmus/translators";
import { type FleetMoment, type FleetSource, NO_INSIGHTS } from "../events/fleet.ts";
import { insightRows } from "./insightRows.ts";
import { discoveredObjects, outputObjects } from "./translated.ts";

export interface FileSourceOptions {
  /** Of what was saved. */
  readonly translation: Translation;
  /** Mesh, Workload and Destination. */
  readonly discoveryKinds: readonly Kind[];
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** Of the file. */
  readonly name: string;
  readonly version: string;
  /** When it was saved, in milliseconds since 1970. */
  readonly savedAt: number;
}

/** A fleet as it was saved: one moment, of which translation and insights are computed again. */
export function fileSource(options: FileSourceOptions): FleetSource {
  const at = new Date(options.savedAt).toISOString();
  const moment = momentOf(options, at);
  return {
    about: { kind: "file", name: options.name, version: options.version, namespace: options.namespace },
    read: async () => moment,
    clock: () => ({ at, clusters: clusterNames(options.translation.inputs).map((name) => ({ name, at })) }),
  };
}

function momentOf({ translation, discoveryKinds, namespace, savedAt }: FileSourceOptions, at: string): FleetMoment {
  const { inputs, attached } = translation;
  const found = insightsOf(translation, { namespace, now: savedAt });
  const withNearMiss = intendedNames(found.cache.tables.inputs);
  const changes = objectChanges(found.byObject, undefined);
  const { current } = runToCompletion(historyAfter(NO_HISTORY, changes, { at: savedAt, isKnown: () => true }));
  const left = new Set(discoveryKinds.map(kindKeyOf));
  const statuses = statusesAfter(translation, undefined);
  const given = [...inputs.collections()].flatMap(([kindKey, collection]) =>
    left.has(kindKey) ? [] : [...collection].map((resource) => answered(resource, statuses)),
  );
  return {
    objects: new Map([
      ["given", snapshotOf(given)],
      ["discovered", discoveredObjects(discoveryKinds)(attached, published(inputs, discoveryKinds))],
    ]),
    generated: new Map([["", outputObjects()(translation.networking)]]),
    insights: {
      at,
      objects: insightRows(NO_INSIGHTS, { now: current, before: NO_HISTORY.current, withNearMiss }),
      unknown: [],
      ended: [],
      forgotten: [],
    },
    certificates: [],
  };
}

/** A user's resource with the status that a server would give it, where the file has none: manifests of a repository, or of a cluster without a server. */
function answered(resource: Resource & { readonly status?: unknown }, statuses: Statuses): Resource {
  if (resource.status !== undefined) return resource;
  const status = statuses.of(refOf(resource))?.status;
  return status === undefined ? resource : ({ ...resource, status } as Resource);
}

/** What a server has published of what it discovered, with statuses; what the file has without them gets those of the translation. */
function published(inputs: Snapshot, kinds: readonly Kind[]): Snapshot {
  return snapshotOf(
    kinds.flatMap((kind) => [...inputs.of(kind)].filter((resource) => (resource as { readonly status?: unknown }).status !== undefined)),
  );
}

function clusterNames(inputs: Snapshot): readonly string[] {
  const names = new Set<string>();
  for (const collection of inputs.collections().values()) for (const { metadata } of collection) names.add(metadata.clusterName ?? "");
  names.delete("");
  return [...names].sort();
}
