import {
  type AnyResource,
  type Delta,
  emptySnapshot,
  equalJson,
  isEmpty,
  type Kind,
  kindKeyOf,
  type Log,
  type Owner,
  type Resource,
  refOf,
  resourceKeyOf,
  type Snapshot,
} from "@isthmus/core";
import type { AgentLink } from "@isthmus/ports";
import { type Scope, translatedFieldsOf } from "@isthmus/translators";
import { bearsLabelOf } from "../apply/ownership.ts";
import type { Informer, KindState } from "../informer/informer.ts";
import { newTraceId } from "../runtime/traceId.ts";
import { scopeFilter } from "./scopeFilter.ts";

/** Reports what changes in the cluster to the server: objects of `kinds`, but for those that we wrote ourselves. */
export interface Upstream {
  /** Also to be called, with nothing, when other namespaces may be in scope. */
  observed(delta: Delta): void;
}

export interface UpstreamOptions {
  readonly link: Pick<AgentLink, "observe" | "synced">;
  readonly kinds: readonly Kind[];
  /** Those of them by which users ask something of the plane: their statuses are answers, and no news. */
  readonly userKinds: readonly Kind[];
  /** Whether the last good form of an object that can't be read stays in use. */
  readonly keepsLastGood: (kind: Kind) => boolean;
  /** Whose objects are outputs of ours, and no news. */
  readonly owners: readonly Owner[];
  /** Those of them of which only what is in namespaces that discovery looks into is reported. */
  readonly scopedKinds: readonly Kind[];
  readonly scope: (cluster: Snapshot) => Scope;
  readonly random: () => number;
  readonly log: Log;
}

/**
 * Reports changes on `link`. `view` has to be called once, before the first `observed`: until then no kind is known, and nothing is
 * announced as synced.
 */
export function upstream(options: UpstreamOptions): Upstream & { view(view: Informer): void } {
  const { link, kinds, userKinds, keepsLastGood, scopedKinds, owners, scope, random, log } = options;
  const sentKinds = new Set(kinds.map(kindKeyOf));
  const reported = new Map(
    kinds.flatMap((kind) => (kind.reportedForm === undefined ? [] : [[kindKeyOf(kind), kind.reportedForm] as const])),
  );
  const users = new Set(userKinds.map(kindKeyOf));
  const isKept = new Set(kinds.filter(keepsLastGood).map(kindKeyOf));
  /** What users ask, as it was reported, by `resourceKeyOf`. */
  const asked = new Map<string, Resource>();
  /** Kinds that were announced, and whether as unserved. */
  const announced = new Map<string, boolean>();
  const ours = new Set<string>();
  let view: Informer | undefined;

  const inScope = scopeFilter({
    kinds: scopedKinds,
    cluster: () => view?.snapshot ?? emptySnapshot(),
    isKnown: () => kindsSent().every(([, state]) => state !== "unknown"),
    scope: () => scope(view?.snapshot ?? emptySnapshot()),
  });

  function kindsSent(): readonly (readonly [string, KindState])[] {
    return view === undefined ? [["", "unknown"]] : [...view.kinds].filter(([kindKey]) => sentKinds.has(kindKey));
  }

  /** The first announcement waits for every kind, as the server acts on it; later ones name kinds that were served later. */
  function announceSynced(): void {
    const sent = kindsSent();
    if (view === undefined || sent.some(([, state]) => state === "unknown")) return;
    const news = sent.filter(([kindKey, state]) => announced.get(kindKey) !== (state === "unserved"));
    if (news.length === 0) return;
    for (const [kindKey, state] of news) announced.set(kindKey, state === "unserved");
    // Objects that exist and cannot be understood: the server must not take them for gone.
    const withheld = [...view.malformed.values()]
      .filter(({ ref }) => isKept.has(kindKeyOf(ref)))
      .map(({ ref, message }) => ({ ref, code: "Malformed", message }) as const);
    if (withheld.length > 0) link.observe({ put: [], remove: [], withheld });
    const named = (unserved: boolean) => news.filter(([, state]) => (state === "unserved") === unserved).map(([kindKey]) => kindKey);
    link.synced(named(false), named(true));
  }

  /** The object as it is to be reported; undefined when nothing of it is news. */
  function news(resource: Resource): Resource | undefined {
    const kindKey = kindKeyOf(resource);
    if (!users.has(kindKey)) return reported.get(kindKey)?.(resource) ?? resource;
    const key = resourceKeyOf(refOf(resource));
    const question = questionIn(resource);
    if (equalJson(asked.get(key), question)) return undefined;
    asked.set(key, question);
    return question;
  }

  return {
    view(clusterView) {
      view = clusterView;
    },
    observed(observed) {
      const delta = inScope.filtered(observed);
      const theirs = delta.put.filter((resource) => sentKinds.has(kindKeyOf(resource)) && !bearsLabelOf(resource, owners));
      const put = theirs.flatMap((resource) => news(resource) ?? []);
      const remove = delta.remove.filter((ref) => sentKinds.has(kindKeyOf(ref)) && !ours.delete(resourceKeyOf(ref)));
      for (const resource of delta.put) {
        if (!bearsLabelOf(resource, owners) || !sentKinds.has(kindKeyOf(resource))) continue;
        const key = resourceKeyOf(refOf(resource));
        // Handed over to us by its label: as a user's object it is gone.
        if (!ours.has(key)) remove.push(refOf(resource));
        ours.add(key);
      }
      for (const resource of theirs) ours.delete(resourceKeyOf(refOf(resource)));
      for (const ref of remove) asked.delete(resourceKeyOf(ref));
      if (!isEmpty({ put, remove })) {
        const traces = [newTraceId(random)];
        log.debug({ traces, put: put.length, remove: remove.length }, "observed");
        link.observe({ put, remove, traces });
      }
      announceSynced();
    },
  };
}

/** What a user asks, as translation reads it: without what was answered, as writing that changes an object's version, too. */
function questionIn(resource: Resource): Resource {
  const read = translatedFieldsOf(resource);
  if (read !== resource) return read;
  const { status: _, ...question } = resource as AnyResource;
  const { resourceVersion: __, ...metadata } = resource.metadata;
  return { ...question, metadata };
}
