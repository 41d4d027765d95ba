import { ApiDoc, ApiSchemaDiscovery, EndpointSlice, Namespace, RECONCILER_LABEL, SCHEMA_REPORTER, Service } from "@isthmus/api";
import {
  type AnyResource,
  type Clock,
  type Delta,
  equalJson,
  excessOfText,
  formatRef,
  kindKeyOf,
  type Log,
  messageOf,
  type ResourceRef,
  refOf,
  type Semaphore,
  semaphore,
} from "@isthmus/core";
import { type Cluster, ClusterError, type HttpClient } from "@isthmus/ports";
import type { Scope } from "@isthmus/translators";
import { alreadyApplied, FIELD_MANAGER, isWrittenByUs } from "../../apply/ownership.ts";
import type { StatusWriter } from "../../apply/statusWriter.ts";
import type { Informer } from "../../informer/informer.ts";
import { coalesced } from "../../runtime/coalesce.ts";
import { checkEndpoints } from "../servicePods.ts";
import { SchemaProblem } from "./openApiDocument.ts";
import { fetchSchema, fetchSchemaWithRetries } from "./schemaFetch.ts";
import { schemaRoots } from "./schemaRoots.ts";
import { type SchemaSource, schemaSources } from "./schemaSources.ts";

/** Reads the OpenAPI documents that Services and ApiSchemaDiscoveries of this cluster ask for, and keeps an ApiDoc for each. */
export interface SchemaReporter {
  /** What has changed in the cluster. */
  observed(delta: Delta): void;
  /** The Settings may say something else. */
  settingsChanged(): void;
  readonly ended: Promise<void>;
}

export interface SchemaReporterOptions {
  /** Refuses what the mode of the cluster forbids. */
  readonly cluster: Cluster;
  readonly view: Informer;
  readonly http: HttpClient;
  /** Whether the Settings let documents be read. */
  readonly isOn: () => boolean;
  /** Whether the ApiDoc may be written now: else nothing is read for it. */
  readonly mayWrite: (ref: ResourceRef) => boolean;
  /** Namespaces whose Services may be called. */
  readonly scope: () => Scope;
  readonly statuses: Pick<StatusWriter, "write">;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is known of a source. */
interface Reading {
  /** `state` of the target that was read; undefined before. */
  readonly state: string | undefined;
  readonly at: number;
  readonly isUnderWay: boolean;
  /** What was read last, as JSON; undefined before, and once the cluster has it. */
  readonly text?: string;
  readonly problem?: SchemaProblem;
}

/**
 * Reads each source when it appears, when its URL or the pods behind it change, and every ten minutes; one of a namespace at a time. What cannot be read
 * leaves the last good schema, and says why in condition SchemaRead of the ApiDoc and the ApiSchemaDiscovery. Runs until `signal` is aborted.
 */
export function startSchemaReporter(options: SchemaReporterOptions, signal: AbortSignal): SchemaReporter {
  const { cluster, view, http, isOn, mayWrite, scope, statuses, clock, log } = options;
  const readings = new Map<string, Reading>();
  /** Who lets the agent wait makes those of other namespaces wait as little as can be. */
  const turns = new Map<string, Semaphore>();
  const inAll = semaphore(AT_ONCE);
  const underWay = new Set<Promise<void>>();
  const problems = new Map<string, string>();
  /** Of the schemas of ours, in characters; `writtenLast` since the last run. */
  const lengths = new Map<string, number>();
  const writtenLast = new Set<string>();
  /** Ours, of a reading that was begun. */
  let fault: { readonly error: unknown } | undefined;

  async function run(): Promise<void> {
    if (fault !== undefined) throw fault.error;
    // What was read before is read again when it is on again.
    if (!isOn()) return void readings.clear();
    if (!view.isComplete || view.kinds.get(kindKeyOf(ApiDoc)) !== "known") return;
    const sources = schemaSources(view.snapshot, cluster.name, scope());
    countLengths();
    const wanted = new Set<string>();
    for (const source of sources) {
      const ref = docRef(source);
      if (!mayWrite(ref)) continue;
      const key = keyOf(source);
      wanted.add(key);
      consider(key, source);
      await kept(
        ref,
        () => publish(source, ref, key),
        (problem) => report(source, problem),
      );
      if (signal.aborted) return;
    }
    for (const key of readings.keys()) if (!wanted.has(key)) readings.delete(key);
    for (const namespace of turns.keys()) if (turns.get(namespace)?.taken === 0) turns.delete(namespace);
    await removeUnasked(new Set(sources.map(({ namespace, name }) => `${namespace}/${name}`)));
  }

  /** What was written a moment ago may not be seen yet. */
  function countLengths(): void {
    const seen = new Map<string, number>();
    for (const doc of view.snapshot.of(ApiDoc)) if (isOurs(doc)) seen.set(pathOf(refOf(doc)), doc.spec?.openapi?.inlineString?.length ?? 0);
    for (const path of lengths.keys()) if (!seen.has(path) && !writtenLast.has(path)) lengths.delete(path);
    for (const [path, length] of seen) if (!writtenLast.has(path)) lengths.set(path, length);
    writtenLast.clear();
  }

  /** Removes what nobody asks for any more: not what is out of scope, nor what may be asked for by objects that are not known now. */
  async function removeUnasked(named: ReadonlySet<string>): Promise<void> {
    const isInScope = scope();
    const unread = new Set([...view.malformed.values()].map(({ ref }) => `${ref.kind} ${ref.namespace}/${ref.name}`));
    for (const doc of view.snapshot.of(ApiDoc)) {
      const { name, namespace = "", ownerReferences = [] } = doc.metadata;
      if (!isOurs(doc) || named.has(`${namespace}/${name}`) || !isInScope(namespace)) continue;
      // What asked for it may be there, and only not be seen.
      if (!ownerReferences.every(({ apiVersion, kind }) => view.kinds.get(kindKeyOf({ apiVersion, kind })) === "known")) continue;
      if (ownerReferences.some((owner) => unread.has(`${owner.kind} ${namespace}/${owner.name}`))) continue;
      const ref = { ...refOf(doc), clusterName: cluster.name };
      if (mayWrite(ref)) await kept(ref, () => remove(ref));
      if (signal.aborted) return;
    }
  }

  /** Begins to read a source, if it is time for that. */
  function consider(key: string, source: SchemaSource): void {
    const { target } = source;
    const before = readings.get(key);
    if (before?.isUnderWay === true) return;
    if (target instanceof SchemaProblem) {
      readings.set(key, { state: undefined, at: before?.at ?? Number.NEGATIVE_INFINITY, isUnderWay: false, problem: target });
      return;
    }
    const age = clock.now() - (before?.at ?? Number.NEGATIVE_INFINITY);
    if (age < (before?.state === target.state ? READ_AGAIN_MS : LEAST_PAUSE_MS)) return;
    readings.set(key, { ...before, state: target.state, at: clock.now(), isUnderWay: true });
    const turn = turns.get(source.namespace) ?? semaphore(1);
    turns.set(source.namespace, turn);
    const attempt = () =>
      turn.run(() =>
        inAll.run(async () => {
          if (!isOn()) throw OFF;
          const roots = target.ca === undefined ? undefined : await schemaRoots(cluster, target.ca, signal);
          await checkEndpoints(cluster, target.reported, signal);
          return fetchSchema(http, { ...target, ...(roots === undefined ? {} : { roots }) }, signal);
        }),
      );
    const reading = fetchSchemaWithRetries(attempt, source.tries, clock, signal)
      .then(
        (text) => ({ text }),
        (error: unknown) => {
          if (error instanceof SchemaProblem) return { problem: error };
          throw error;
        },
      )
      .then((outcome) => {
        if ("problem" in outcome && outcome.problem === OFF) readings.delete(key);
        else readings.set(key, { state: target.state, at: clock.now(), isUnderWay: false, ...outcome });
        loop.request();
      })
      .catch((error: unknown) => {
        fault = { error };
        loop.request();
      });
    underWay.add(reading);
    void reading.finally(() => underWay.delete(reading));
  }

  async function publish(source: SchemaSource, ref: ResourceRef, key: string): Promise<void> {
    const { target } = source;
    if (target instanceof SchemaProblem && NOTHING_WRITTEN.has(target.reason)) return report(source, target);
    const existing = view.snapshot.of(ApiDoc).get(ref);
    if (existing !== undefined && !isOurs(existing)) return report(source, NOT_OURS(ref));
    const before = existing?.spec?.openapi?.inlineString;
    const reading = settled(key, { source, ref, before });
    if (reading === undefined) return;
    const { text = before, problem, isUnderWay } = reading;
    // Of what is read for the first time something is said when that has ended.
    if (text === undefined && problem === undefined) return;
    const wanted = apiDoc(source, ref, text);
    const isThere = existing !== undefined && alreadyApplied(existing, wanted) && equalJson(owners(existing), owners(wanted));
    if (!isThere) {
      // The label alone says little: a published agent sets it too, and users copy objects. Nor is everything that is there seen.
      const live = await cluster.get(ApiDoc, ref, signal);
      if (live !== undefined && !(isOurs(live) && isWrittenByUs(live))) return report(source, NOT_OURS(ref));
      lengths.set(pathOf(ref), text?.length ?? 0);
      writtenLast.add(pathOf(ref));
      await cluster.apply(wanted, { fieldManager: FIELD_MANAGER, force: live !== undefined }, signal);
    }
    if (problem !== undefined || !isUnderWay) report(source, problem);
  }

  /** A reading without the text that the cluster has already, or that there is no room for. */
  function settled(
    key: string,
    { source, ref, before }: { readonly source: SchemaSource; readonly ref: ResourceRef; readonly before: string | undefined },
  ): Reading | undefined {
    const reading = readings.get(key);
    if (reading?.text === undefined) return reading;
    const { text, ...rest } = reading;
    const excess =
      text === before ? undefined : (excessOfText(JSON.stringify(apiDoc(source, ref, text))) ?? spaceProblem(ref, text.length, before));
    if (text !== before && excess === undefined) return reading;
    const next = excess === undefined ? rest : { ...rest, problem: new SchemaProblem("TooLarge", `the ApiDoc ${excess}`) };
    readings.set(key, next);
    return next;
  }

  /** What is said of an ApiDoc that is too large beside the others; undefined where there is room. */
  function spaceProblem(ref: ResourceRef, length: number, before = ""): string | undefined {
    if (length <= before.length) return undefined;
    let [ofNamespace, inCluster] = [length, length];
    for (const [path, taken] of lengths) {
      if (path === pathOf(ref)) continue;
      inCluster += taken;
      if (path.startsWith(`${ref.namespace}/`)) ofNamespace += taken;
    }
    if (ofNamespace <= MOST_OF_NAMESPACE && inCluster <= MOST_IN_CLUSTER) return undefined;
    return "would be more than 8 MiB of schemas of one namespace, or 64 MiB of one cluster: serve shorter documents, or remove some";
  }

  function report(source: SchemaSource, problem: SchemaProblem | undefined): void {
    const condition =
      problem === undefined
        ? { type: CONDITION, status: "True", reason: "Read", message: "the schema is as the Service serves it" }
        : { type: CONDITION, status: "False", reason: problem.reason, message: problem.message };
    const { owner } = source;
    const ref = docRef(source);
    if (problem !== undefined) tell(ref, `the schema of an API is not read: ${problem.message}`);
    else problems.delete(formatRef(ref));
    const doc = view.snapshot.of(ApiDoc).get(ref);
    const isDiscovery = kindKeyOf(owner) === kindKeyOf(ApiSchemaDiscovery);
    statuses.write([
      ...(doc !== undefined && isOurs(doc) && problem?.reason !== "NotOurs" ? [{ ref, status: { conditions: [condition] } }] : []),
      ...(isDiscovery ? [{ ref: { ...refOf(owner), clusterName: cluster.name }, status: { conditions: [condition] } }] : []),
    ]);
  }

  function tell(ref: ResourceRef, message: string): void {
    const key = formatRef(ref);
    if (problems.get(key) === message) return;
    if (problems.size >= MOST_PROBLEMS) problems.clear();
    problems.set(key, message);
    log.warn({ object: key }, message);
  }

  async function remove(ref: ResourceRef): Promise<void> {
    const live = await cluster.get(ApiDoc, ref, signal);
    if (live === undefined || !isOurs(live) || !isWrittenByUs(live)) return;
    const { uid, resourceVersion } = live.metadata;
    if (uid === undefined || resourceVersion === undefined) return;
    await cluster.delete(ref, { uid, resourceVersion }, signal);
  }

  /** One that cannot be written keeps no other from it. */
  async function kept(ref: ResourceRef, write: () => Promise<void>, refused?: (problem: SchemaProblem) => void): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (signal.aborted || !(error instanceof ClusterError)) throw error;
      // Of a conflict the watch will tell; what is gone already was to be removed, or has lost its namespace.
      if (error.code === "Conflict" || error.code === "NotFound") return;
      tell(ref, `cannot be written: ${messageOf(error)}; retrying`);
      refused?.(new SchemaProblem("NotWritten", `the ApiDoc cannot be written: ${messageOf(error)}; it is tried again`));
    }
  }

  async function wakeUp(): Promise<void> {
    while (!signal.aborted) {
      loop.request();
      await clock.sleep(LEAST_PAUSE_MS, signal).catch(() => undefined);
    }
  }

  const loop = coalesced(run, { clock, pauseMs: PAUSE_MS, restMs: REST_MS }, signal);
  const ended = async () => {
    await Promise.all([loop.ended, wakeUp()]);
    await Promise.all(underWay);
  };
  return {
    observed({ put, remove: gone }) {
      if ([...put, ...gone].some((one) => CONCERNED.has(kindKeyOf(one)))) loop.request();
    },
    settingsChanged: () => loop.request(),
    ended: ended(),
  };
}

function docRef({ namespace, name, owner }: SchemaSource): ResourceRef {
  return { apiVersion: ApiDoc.apiVersion, kind: ApiDoc.kind, namespace, name, clusterName: owner.metadata.clusterName ?? "" };
}

/** Of two that want the same ApiDoc, each has its own. */
function keyOf({ owner, namespace, name }: SchemaSource): string {
  return `${owner.kind} ${namespace}/${name}`;
}

function apiDoc({ owner, servedBy }: SchemaSource, ref: ResourceRef, text: string | undefined): ApiDoc {
  const { apiVersion, kind, metadata } = owner;
  return {
    apiVersion: ApiDoc.apiVersion,
    kind: ApiDoc.kind,
    metadata: {
      name: ref.name,
      namespace: ref.namespace,
      clusterName: ref.clusterName,
      labels: { [RECONCILER_LABEL]: SCHEMA_REPORTER },
      // Kubernetes deletes it with its owner.
      ...(metadata.uid === undefined ? {} : { ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }] }),
    },
    spec: { ...(text === undefined ? {} : { openapi: { inlineString: text } }), servedBy: [...servedBy] },
  };
}

function pathOf({ namespace, name }: ResourceRef): string {
  return `${namespace}/${name}`;
}

function owners({ metadata }: AnyResource | ApiDoc): readonly (string | undefined)[] {
  return (metadata.ownerReferences ?? []).map(({ uid }) => uid);
}

function isOurs({ metadata }: ApiDoc): boolean {
  return metadata.labels?.[RECONCILER_LABEL] === SCHEMA_REPORTER;
}

const NOT_OURS = ({ name }: ResourceRef) =>
  new SchemaProblem("NotOurs", `ApiDoc ${name} of this namespace was written by somebody else: rename or delete it`);

/** Ends the attempts at a document. */
const OFF = new SchemaProblem("Refused", "agentServices.apiDiscovery of the Settings is DISABLED");

/** Of what is not to be written at all. */
const NOTHING_WRITTEN: ReadonlySet<string> = new Set(["NotOurs", "TooMany"]);
const CONDITION = "SchemaRead";
const CONCERNED: ReadonlySet<string> = new Set([ApiDoc, ApiSchemaDiscovery, EndpointSlice, Namespace, Service].map(kindKeyOf));
// Endpoints change in bursts.
const PAUSE_MS = 500;
const REST_MS = 2_000;
const READ_AGAIN_MS = 10 * 60_000;
const LEAST_PAUSE_MS = 30_000;
const AT_ONCE = 16;
const MOST_OF_NAMESPACE = 8 * 1024 * 1024;
const MOST_IN_CLUSTER = 64 * 1024 * 1024;
const MOST_PROBLEMS = 1_000;
