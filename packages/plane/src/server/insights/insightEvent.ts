import { type EntryChange, formatRef, keptText, type Resource, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import type { DatedInsight, DatedObject } from "@isthmus/insights";

/** One insight that has begun or ended. */
export interface InsightEvent {
  readonly type: "began" | "ended";
  /** What the insight is about. */
  readonly object: ResourceRef;
  readonly code: string;
  readonly message: string;
  /** The same of each insight of this code about this field of the object that begins, or ends. */
  readonly identity: string;
}

/** Errors and warnings of an object that are shown now and were not there before, and the reverse. What is suppressed is not said. */
export function insightEventsOf({ before, after }: EntryChange<DatedObject>): readonly InsightEvent[] {
  const [was, is] = [before?.insights ?? [], after?.insights ?? []];
  const object = (after ?? before)?.object;
  if (object === undefined) return [];
  return [...differing("ended", object, { shown: was, others: is }), ...differing("began", object, { shown: is, others: was })];
}

function differing(
  type: InsightEvent["type"],
  object: ResourceRef,
  { shown, others }: { readonly shown: readonly DatedInsight[]; readonly others: readonly DatedInsight[] },
): readonly InsightEvent[] {
  const known = new Set(others.map(nameOf));
  return shown
    .filter((one) => one.suppression === undefined && one.insight.severity !== "info" && !known.has(nameOf(one)))
    .map((one): InsightEvent => {
      const { code } = one.insight;
      // Both are kept for a while, and others decide how long they are.
      const message = keptText(one.insight.message, 2 * MOST_OF_MESSAGE);
      return { type, object, code, message, identity: keptText([type, resourceKeyOf(object), nameOf(one)].join(" "), MOST_OF_IDENTITY) };
    });
}

function nameOf({ insight: { code, field } }: DatedInsight): string {
  return `${code} ${field}`;
}

interface Circumstances {
  /** Who writes it: the replica. */
  readonly instance: string;
  /** Makes its name another one than those of other Events. */
  readonly suffix: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * The Event, on `target`: the object itself, or the KubernetesCluster of its cluster.
 * Source: kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1 (core/v1).
 */
export function eventOn(
  target: Resource,
  { type, object, code, message }: InsightEvent,
  { instance, suffix, at }: Circumstances,
): Resource {
  const { apiVersion, kind, metadata } = target;
  const { name, namespace = "default", uid, resourceVersion } = metadata;
  const subject = object.clusterName === "" ? "" : `${formatRef(object)}: `;
  const time = `${new Date(at).toISOString().slice(0, 19)}Z`;
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${keptText(name, MOST_OF_NAME)}.${suffix}`, namespace },
    involvedObject: {
      apiVersion,
      kind,
      name,
      namespace,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    type: type === "began" ? "Warning" : "Normal",
    reason: code,
    message: printable(`${subject}${type === "began" ? "" : "no longer: "}${message}`),
    source: { component: COMPONENT },
    reportingComponent: COMPONENT,
    reportingInstance: instance,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  } as Resource;
}

/** Names of users' objects, and what they wrote, may be part of it: on a terminal it is one line, and nothing but text. */
function printable(text: string): string {
  const line = keptText(text, 2 * MOST_OF_MESSAGE).replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
  return line.length > MOST_OF_MESSAGE ? `${keptText(line, MOST_OF_MESSAGE - 1)}…` : line;
}

const COMPONENT = "gloo-mesh-mgmt-server";
// With the suffix, a name of 253 characters.
const MOST_OF_NAME = 240;
// As long as the note of an Event may be: events.k8s.io/v1.
const MOST_OF_MESSAGE = 1_000;
// With the longest names of an object.
const MOST_OF_IDENTITY = 2_048;
