import type { ConsoleEndedInsight } from "@isthmus/console/wire";
import { lastWriterOf, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { t } from "../strings.ts";
import { findingText } from "./insights/insightIndex.ts";
import { conditionStatus, conditionsOf, type Tone } from "./status.ts";

/** Something that happened to an object. */
export interface ObjectEvent {
  readonly key: string;
  /** ISO 8601. */
  readonly time: string;
  readonly tone: Tone;
  readonly what: string;
  readonly message: string;
  /** Of an insight. */
  readonly code?: string;
}

const TONES = { error: "bad", warning: "warning", info: "progress" } as const;

/** What is known of when: creation, the last change of the spec, the last transition of each condition, insights that began and ended; the latest first. */
export function objectEvents(fleet: Fleet, object: Resource): readonly ObjectEvent[] {
  const key = resourceKeyOf(refOf(object));
  const events = [
    ...conditionsOf(object).flatMap((condition): readonly ObjectEvent[] => {
      const { type, status = "", reason = "", message = "", lastTransitionTime } = condition;
      if (lastTransitionTime === undefined) return [];
      const { tone } = conditionStatus(condition);
      return [
        { key: `condition ${type}`, time: lastTransitionTime, tone, what: t.events.became(type, status), message: message || reason },
      ];
    }),
    ...(fleet.insights.row(key)?.insights ?? []).map((insight, i): ObjectEvent => {
      const { code, severity, since } = insight;
      return { key: `insight ${i}`, time: since, tone: TONES[severity], what: t.events.began, message: findingText(insight), code };
    }),
    ...endedOf(fleet.ended, key).flatMap((insight, i): readonly ObjectEvent[] => {
      const { code, severity, since, until, message } = insight;
      return [
        { key: `began ${i}`, time: since, tone: TONES[severity], what: t.events.began, message, code },
        { key: `ended ${i}`, time: until, tone: "good", what: t.events.ended, message, code },
      ];
    }),
    ...changed(object),
    ...created(object),
  ];
  // Those of one moment stay in the order above.
  return events.sort((a, b) => Date.parse(b.time) - Date.parse(a.time));
}

function changed(object: Resource): readonly ObjectEvent[] {
  const writer = lastWriterOf(object);
  if (writer === undefined || writer.time === object.metadata.creationTimestamp) return [];
  const message = t.events.generation(object.metadata.generation);
  return [{ key: "changed", time: writer.time, tone: "unknown", what: t.events.changedBy(writer.manager), message }];
}

function created(object: Resource): readonly ObjectEvent[] {
  const { creationTimestamp } = object.metadata;
  if (creationTimestamp === undefined) return [];
  const writer = lastWriterOf(object);
  const message = writer?.time === creationTimestamp ? t.events.by(writer.manager) : "";
  return [{ key: "created", time: creationTimestamp, tone: "unknown", what: t.objects.created, message }];
}

function endedOf(ended: readonly ConsoleEndedInsight[], key: string): readonly ConsoleEndedInsight[] {
  return ended.filter(({ object }) => resourceKeyOf(object) === key);
}
