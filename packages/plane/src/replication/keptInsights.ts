import { clusterNameIn, type JsonObject, kindKeyOf, type Resource, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import {
  type DatedInsight,
  type DatedObject,
  type EndedInsight,
  endedKey,
  endedNameOf,
  type Insight,
  type InsightHistory,
} from "@isthmus/insights";
import type { StorePartition } from "../ports/clusterPort.ts";
import type { PartitionContent } from "./partitionWriter.ts";

/**
 * What the store has of insights: everything about one object under the key of that object, and each insight that has ended under a key
 * of its own.
 */
export interface KeptInsights {
  /** Of which moment they are, in milliseconds since 1970; 0 where that cannot be read. */
  readonly at: number;
  /** In the order of their keys. */
  readonly objects: readonly DatedObject[];
  readonly ended: readonly EndedInsight[];
}

/** The one partition of insights. */
export const INSIGHTS_PARTITION: StorePartition = { section: "insights", clusterName: "" };

/** What is said with them. */
export function insightsMeta(at: number, instance: string): JsonObject {
  return { at, writtenBy: instance };
}

/** All of a history, as the partition holds it: bounded for each object, in number and in length. */
export function keptContent({ current, ended }: InsightHistory): PartitionContent {
  let byKind: Map<string, Resource[]> | undefined;
  const listed = (): ReadonlyMap<string, readonly Resource[]> => {
    if (byKind !== undefined) return byKind;
    byKind = new Map();
    for (const resource of [...[...current].map(keptObject), ...[...ended].map(keptEnded)]) {
      const list = byKind.get(kindKeyOf(resource));
      if (list === undefined) byKind.set(kindKeyOf(resource), [resource]);
      else list.push(resource);
    }
    return byKind;
  };
  return {
    get kinds() {
      return [...listed().keys()];
    },
    objects: (kindKey) => listed().get(kindKey) ?? [],
    at(kindKey, key) {
      const object = current.row(`${kindKey}|${key}`);
      if (object !== undefined) return keptObject(object);
      const clusterName = clusterNameIn(key);
      const one = kindKey === ENDED_KEY ? ended.row(endedKey(clusterName, key.slice(0, -`..${clusterName}`.length))) : undefined;
      return one && keptEnded(one);
    },
  };
}

/** What the texts of a partition say, by kind and key; what is of another version of this program is left out. */
export function keptInsights(whole: ReadonlyMap<string, ReadonlyMap<string, string>>, meta: JsonObject): KeptInsights {
  const [objects, ended]: [DatedObject[], EndedInsight[]] = [[], []];
  for (const [kindKey, texts] of whole) {
    for (const text of texts.values()) {
      const kept = parsed(text);
      if (kindKey === ENDED_KEY) {
        if (isEnded(kept.ended)) ended.push(kept.ended);
        continue;
      }
      const object = datedObjectIn(kept);
      if (object !== undefined) objects.push(object);
    }
  }
  const at = meta["at"];
  return {
    at: typeof at === "number" ? at : 0,
    objects: sortedBy(objects, ({ object }) => resourceKeyOf(object)),
    ended: sortedBy(ended, (one) => endedKey(one.object.clusterName, endedNameOf(one))),
  };
}

/** What is kept of one object; undefined for one that has ended, and for what is of another version of this program. */
export function datedObjectIn(kept: Resource): DatedObject | undefined {
  const { insights, problems } = kept as Kept;
  if (!isRef(kept) || !Array.isArray(insights) || !insights.every(isDated)) return undefined;
  const { name, namespace = "", clusterName = "" } = kept.metadata;
  return { object: { apiVersion: kept.apiVersion, kind: kept.kind, name, namespace, clusterName }, insights, problems: textsIn(problems) };
}

/** As the leader has them: stores give them in any order. */
function sortedBy<T>(values: readonly T[], keyOf: (value: T) => string): readonly T[] {
  const keyed = values.map((value) => ({ key: keyOf(value), value }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ value }) => value);
}

/** The key of a dated object in the partition, and what is kept under it. */
export function keptObject({ object, insights, problems }: DatedObject): Resource {
  const { apiVersion, kind, name, namespace, clusterName } = object;
  const kept = { insights: insights.slice(0, MOST_OF_OBJECT).map(shortened), problems: problems.slice(0, MOST_OF_OBJECT).map(cut) };
  return { apiVersion, kind, metadata: { name, namespace, clusterName }, ...kept } as Resource;
}

/** The same of one that has ended. */
export function keptEnded(ended: EndedInsight): Resource {
  const { clusterName } = ended.object;
  const kept = { ended: { ...ended, message: cut(ended.message) } };
  return { ...ENDED, metadata: { name: endedNameOf(ended), namespace: "", clusterName }, ...kept } as Resource;
}

const ENDED = { apiVersion: "insights.isthmus.mesh/v1", kind: "EndedInsight" };
const ENDED_KEY = kindKeyOf(ENDED);

// An object with more has other troubles than a list that ends.
const MOST_OF_OBJECT = 50;
const MOST_TARGETS = 20;
const MOST_CHARACTERS = 2_048;
const MOST_OF_COMMAND = 4_096;

function shortened({ insight, ...others }: DatedInsight): DatedInsight {
  const { remedy, targets, nearMiss: _, ...told } = insight;
  const { text, command, patch } = remedy;
  const fits = (member: string | undefined) => member !== undefined && member.length <= MOST_OF_COMMAND;
  // A command that ends half-way would be another command.
  const shortRemedy = { text: cut(text), ...(fits(command) ? { command } : {}), ...(fits(patch) ? { patch } : {}) };
  return {
    ...others,
    insight: {
      ...told,
      message: cut(told.message),
      remedy: shortRemedy as Insight["remedy"],
      ...(targets === undefined ? {} : { targets: targets.slice(0, MOST_TARGETS) }),
    },
  };
}

function cut(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
}

function parsed(text: string): Kept {
  try {
    return JSON.parse(text) as Kept;
  } catch {
    // Nothing that this version writes.
    return NOTHING;
  }
}

const NOTHING: Kept = { apiVersion: "", kind: "", metadata: { name: "" } };

interface Kept extends Resource {
  readonly insights?: unknown;
  readonly problems?: unknown;
  readonly ended?: unknown;
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

function isRef(kept: Kept): boolean {
  return [kept.apiVersion, kept.kind, kept.metadata?.name].every((text) => typeof text === "string");
}

type Unchecked<T> = { readonly [M in keyof T]?: unknown };

function isDated(value: unknown): value is DatedInsight {
  const { insight, since } = (value ?? {}) as Unchecked<DatedInsight>;
  const { code, severity, field, message, remedy, object } = (insight ?? {}) as Unchecked<Insight>;
  return (
    typeof since === "number" &&
    [code, severity, field, message, (remedy as Unchecked<Insight["remedy"]> | undefined)?.text].every(
      (text) => typeof text === "string",
    ) &&
    isWhole(object)
  );
}

function isEnded(value: unknown): value is EndedInsight {
  const { object, code, severity, field, message, since, until } = (value ?? {}) as Unchecked<EndedInsight>;
  return isWhole(object) && [code, severity, field, message].every(isText) && [since, until].every((time) => typeof time === "number");
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isWhole(value: unknown): value is ResourceRef {
  const { apiVersion, kind, name, namespace, clusterName } = (value ?? {}) as Unchecked<ResourceRef>;
  return [apiVersion, kind, name, namespace, clusterName].every(isText);
}
