import type { DefinedKind } from "@isthmus/api";
import { type Clock, displayName, plainJson, type Resource, UsageError, uptimeOf } from "@isthmus/core";
import { runReflector } from "@isthmus/plane/reflector";
import type { Cluster } from "@isthmus/ports";
import { WaitTimeout } from "../cluster/waitTimeout.ts";
import type { Io } from "../io.ts";
import type { Template } from "../output/jsonPath/template.ts";
import { templateText } from "../output/jsonPath/templateText.ts";
import { plainText } from "../output/plainText.ts";
import { type KindName, kindsNamed } from "./kinds.ts";
import { isSelected, requireNamed, type Selection, selectedObjects, withNames } from "./selectedObjects.ts";

/** What is waited for, of each object. */
export type Awaited =
  | { readonly is: "condition"; readonly type: string; readonly value: string }
  | { readonly is: "create" }
  | { readonly is: "delete" }
  /** `value` undefined: anything at all. */
  | { readonly is: "jsonpath"; readonly path: Template; readonly value: string | undefined };

/** Objects of some kinds that are waited for together. */
export interface WaitTarget {
  readonly kinds: readonly KindName[];
  /** `name`, or `namespace/name`; none: all that there are when the wait begins. */
  readonly names: readonly string[];
}

export interface Waiting {
  readonly io: Io;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly selection: Selection;
  readonly until: Awaited;
  /** 0: only once. */
  readonly timeoutMs: number;
}

/**
 * Waits until each object is as it should be, and says so of each, as kubectl does. Throws UsageError for one that is not there unless its creation or
 * deletion is waited for, and WaitTimeout, which names those that are left and what they say. `first`: limits the first answer of the API server.
 */
export async function waitFor(
  targets: readonly WaitTarget[],
  waiting: Waiting,
  first: <T>(read: (signal: AbortSignal) => Promise<T>) => Promise<T>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, timeoutMs } = waiting;
  const end = new AbortController();
  const begun = uptimeOf(clock);
  const objects = await first((within) => awaitedObjects(targets, waiting, within));
  const left = Math.max(0, timeoutMs - (uptimeOf(clock) - begun));
  const within = AbortSignal.any([signal, end.signal]);
  const isLate = clock.sleep(left, within).then(
    () => end.abort(),
    () => undefined,
  );
  const results = await Promise.all(
    objects.map((object) => seenAsAwaited(object, waiting, timeoutMs === 0 ? AbortSignal.abort() : within)),
  );
  end.abort();
  await isLate;
  signal.throwIfAborted();
  const unmet = results.flatMap((result) => (result === undefined ? [] : [result]));
  if (unmet.length > 0) throw new WaitTimeout(unmet.join("\n"));
}

interface AwaitedObject {
  readonly kind: DefinedKind<Resource>;
  readonly name: string;
  readonly namespace: string | undefined;
  /** As it was when the wait began. */
  readonly now: Resource | undefined;
}

async function awaitedObjects(targets: readonly WaitTarget[], waiting: Waiting, signal: AbortSignal): Promise<readonly AwaitedObject[]> {
  const { cluster, selection, until } = waiting;
  const objects: AwaitedObject[] = [];
  for (const { kinds, names } of targets) {
    const found: AwaitedObject[] = [];
    const known = [];
    for (const kind of await kindsNamed(kinds)) {
      const all = await selectedObjects(cluster, kind, selection, signal);
      known.push(all);
      for (const now of withNames(all.items, names))
        found.push({ kind, name: now.metadata.name, namespace: now.metadata.namespace ?? "", now });
    }
    if (until.is !== "create" && until.is !== "delete") requireNamed(names, known);
    const [first] = await kindsNamed(kinds);
    for (const name of names) {
      if (first === undefined || known.some(({ items }) => withNames(items, [name]).length > 0)) continue;
      const [last = "", namespace = selection.namespace] = name.split("/").reverse();
      found.push({ kind: first, name: last, namespace, now: undefined });
    }
    if (found.length === 0) throw new UsageError(`no matching resources found: there is no ${kinds.join(", ")}`);
    objects.push(...found);
  }
  return objects;
}

/** Undefined once the object is as it should be, which is said; else what it is instead when the signal is aborted. */
async function seenAsAwaited(object: AwaitedObject, waiting: Waiting, signal: AbortSignal): Promise<string | undefined> {
  const { io, cluster, clock, until, selection } = waiting;
  const { kind, name, namespace } = object;
  const title = `${kind.kind.toLowerCase()}/${plainText(name)}`;
  let last = object.now;
  let trouble = "";
  if (!isAsAwaited(last, until)) {
    const done = new AbortController();
    const isMeant = (resource: Resource): boolean =>
      resource.metadata.name === name &&
      (namespace === undefined || (resource.metadata.namespace ?? "") === namespace) &&
      isSelected(resource, selection);
    const see = (now: Resource | undefined): void => {
      last = now;
      trouble = "";
      if (isAsAwaited(now, until)) done.abort();
    };
    await runReflector(
      {
        cluster,
        kind,
        list: { name, ...(namespace === undefined || namespace === "" ? {} : { namespace }) },
        clock,
        random: Math.random,
        emit: (event) => {
          if (event.type === "listed") see(event.items.find(isMeant));
          else if (event.type === "put" && isMeant(event.resource)) see(event.resource);
          else if (event.type === "removed" && event.ref.name === name) see(undefined);
          else if (event.type === "unavailable") trouble = `; the API server does not answer: ${event.message}`;
        },
      },
      AbortSignal.any([signal, done.signal]),
    );
    if (!isAsAwaited(last, until)) return `timed out waiting for ${awaitedText(until)} on ${title}: ${stateText(last, until)}${trouble}`;
  }
  await io.out(`${title} ${doneText(until)}\n`);
  return undefined;
}

function isAsAwaited(resource: Resource | undefined, until: Awaited): boolean {
  if (until.is === "delete") return resource === undefined;
  if (resource === undefined) return false;
  if (until.is === "create") return true;
  if (until.is === "condition") {
    const condition = conditionOf(resource, until.type);
    return condition !== undefined && !isOutdated(resource, condition) && same(condition.status, until.value);
  }
  const text = templateText(until.path, plainJson(resource));
  return until.value === undefined ? text !== "" : text === until.value;
}

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

function conditionOf(resource: Resource, type: string): Condition | undefined {
  const { status } = resource as Resource & { readonly status?: { readonly conditions?: unknown } };
  const conditions = Array.isArray(status?.conditions) ? (status.conditions as readonly (Condition | null)[]) : [];
  return conditions.find((condition) => same(condition?.type, type)) ?? undefined;
}

/** It is about a spec that is no more: what it says of this one is not known yet. */
function isOutdated(resource: Resource, { observedGeneration }: Condition): boolean {
  const { status, metadata } = resource as Resource & { readonly status?: { readonly observedGeneration?: number } };
  const observed = observedGeneration ?? status?.observedGeneration;
  const generation = metadata.generation;
  return typeof observed === "number" && typeof generation === "number" && observed < generation;
}

/** As kubectl compares them. */
function same(a: string | undefined, b: string): boolean {
  return a?.toLowerCase() === b.toLowerCase();
}

function awaitedText(until: Awaited): string {
  if (until.is === "condition") return `condition ${until.type}${same("true", until.value) ? "" : `=${until.value}`}`;
  return until.is === "jsonpath" ? "the value of the JSONPath" : until.is === "create" ? "creation" : "deletion";
}

function doneText(until: Awaited): string {
  return until.is === "create" ? "created" : until.is === "delete" ? "deleted" : "condition met";
}

/** What the object says instead. */
function stateText(resource: Resource | undefined, until: Awaited): string {
  if (resource === undefined) return "there is no such object";
  if (until.is === "delete") return `${displayName(resource.metadata)} is there still`;
  if (until.is !== "condition") return "its value is another one";
  const condition = conditionOf(resource, until.type);
  if (condition === undefined) return `it has no condition ${until.type}`;
  if (isOutdated(resource, condition)) return "the server has not seen its last change yet";
  const { status = "", reason = "", message = "" } = condition;
  return plainText(`it is ${status}${reason === "" ? "" : ` (${reason})`}${message === "" ? "" : `: ${message}`}`);
}
