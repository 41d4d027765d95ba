import {
  type Collection,
  clusterNameIn,
  excessOf,
  excessOfText,
  type JsonObject,
  keptText,
  kindKeyOf,
  type Resource,
  type ResourceRef,
  resourceKeyOf,
} from "@isthmus/core";
import {
  type DatedInsight,
  type DatedObject,
  type EndedInsight,
  endedKey,
  endedNameOf,
  type Insight,
  type InsightHistory,
} from "@isthmus/insights";
import type { StorePartition } from "@isthmus/ports";
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

/**
 * What the texts of a partition say, by kind and key; what is of another version of this program, too large or too deep is left out. All that it
 * gives can be printed: times are times, and optional members are what they are to be.
 */
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
    at: isTime(at) ? at : 0,
    objects: sortedBy(objects, ({ object }) => resourceKeyOf(object)),
    ended: sortedBy(ended, (one) => endedKey(one.object.clusterName, endedNameOf(one))),
  };
}

/** What is kept of one object; undefined for one that has ended, and for what is of another version of this program. */
export function datedObjectIn(kept: object): DatedObject | undefined {
  const { apiVersion, kind, metadata, insights, problems }: Kept = kept;
  if (!Array.isArray(insights)) return undefined;
  const { name, namespace = "", clusterName = "" } = metadata ?? {};
  const object: Unchecked<ResourceRef> = { apiVersion, kind, name, namespace, clusterName };
  if (!isWhole(object)) return undefined;
  return { object, insights: insights.slice(0, MOST_OF_OBJECT).filter(isDated), problems: textsIn(problems).slice(0, MOST_OF_OBJECT) };
}

/** The insights that have ended of a partition that was read as objects; what is of another version of this program is left out. */
export function endedInsightsIn(kept: Collection<Resource> | undefined): readonly EndedInsight[] {
  const ended = [...(kept ?? [])].flatMap((resource) => {
    const { ended: one }: Kept = resource;
    return isEnded(one) ? [one] : [];
  });
  return sortedBy(ended, (one) => endedKey(one.object.clusterName, endedNameOf(one)));
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
/** The kind under which they are kept. */
export const ENDED_KEY = kindKeyOf(ENDED);

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
  return text.length > MOST_CHARACTERS ? `${keptText(text, MOST_CHARACTERS - 1)}…` : text;
}

function parsed(text: string): Kept {
  if (excessOfText(text) !== undefined) return NOTHING;
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null && excessOf(value) === undefined ? value : NOTHING;
  } catch {
    // Nothing that this version writes.
    return NOTHING;
  }
}

const NOTHING: Kept = {};

type Unchecked<T> = { readonly [M in keyof T]?: unknown };

interface Kept extends Unchecked<Omit<Resource, "metadata"> & { insights: never; problems: never; ended: never }> {
  readonly metadata?: Unchecked<Resource["metadata"]> | null;
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(isText) : [];
}

function isDated(value: unknown): value is DatedInsight {
  const { insight, since, suppression } = (value ?? {}) as Unchecked<DatedInsight>;
  return isInsight(insight) && isTime(since) && (suppression === undefined || isSuppression(suppression));
}

function isInsight(value: unknown): value is Insight {
  const { code, category, severity, object, cluster, field, message, remedy, nearMiss, targets } = (value ?? {}) as Unchecked<Insight>;
  const { text, command, patch } = (remedy ?? {}) as Unchecked<Insight["remedy"]>;
  return (
    [code, category, severity, cluster, field, message, text].every(isText) &&
    [nearMiss, command, patch].every((member) => member === undefined || isText(member)) &&
    isWhole(object) &&
    (targets === undefined || (Array.isArray(targets) && targets.every(isWhole)))
  );
}

function isSuppression(value: unknown): value is NonNullable<DatedInsight["suppression"]> {
  const { reason, until, by } = (value ?? {}) as Unchecked<NonNullable<DatedInsight["suppression"]>>;
  return [reason, by].every(isText) && (until === undefined || isText(until));
}

function isEnded(value: unknown): value is EndedInsight {
  const { object, code, severity, field, message, since, until } = (value ?? {}) as Unchecked<EndedInsight>;
  return isWhole(object) && [code, severity, field, message].every(isText) && [since, until].every(isTime);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Milliseconds since 1970 that a Date can be of. */
function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= LAST_TIME;
}

// Source: ECMAScript, "Time Values and Time Range".
const LAST_TIME = 8.64e15;

function isWhole(value: unknown): value is ResourceRef {
  const { apiVersion, kind, name, namespace, clusterName } = (value ?? {}) as Unchecked<ResourceRef>;
  return [apiVersion, kind, name, namespace, clusterName].every(isText);
}
