import { hasUserStatus, kindOf } from "@isthmus/api";
import {
  type CooperativeTask,
  type Delta,
  deltaBetween,
  emptySnapshot,
  kindKeyOf,
  messageOf,
  type Report,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
  runToCompletion,
  type Snapshot,
} from "@isthmus/core";
import { closedStandIn } from "./closedStandIn.ts";
import { faultReport } from "./faultReport.ts";
import {
  isSameTranslateOptions,
  type TranslateOptions,
  type Translation,
  type TranslationFault,
  type TranslationFaults,
  translateOrThrow,
} from "./translate.ts";

/**
 * Everything that follows from a snapshot. A throw inside translation is our mistake, and costs the object that it comes with: that one is
 * in `faults`, and what is translated is its last form on which nothing threw, or else nothing of it. Throws where so many objects are
 * concerned that it is no fault of single ones, and where it throws without a change of any object.
 */
export function translate(given: Snapshot, options: TranslateOptions, previous?: Translation): Translation {
  return runToCompletion(translateInSteps(given, options, previous));
}

/** The same in steps, for the one who must not hold others up meanwhile: a step is about a row of a table, or some thousand pointers. */
export function* translateInSteps(given: Snapshot, options: TranslateOptions, previous?: Translation): CooperativeTask<Translation> {
  const before = previous !== undefined && isSameTranslateOptions(previous.cache.options, options) ? previous : undefined;
  const sound = before?.cache.sound ?? before;
  if (before !== undefined && before.faults.size > 0) return yield* isolated(given, options, { sound, faults: before.faults });
  try {
    return yield* translateOrThrow(given, options, sound);
  } catch {
    return yield* isolated(given, options, { sound, faults: NO_FAULTS });
  }
}

interface Earlier {
  /** Of what nothing threw on. */
  readonly sound: Translation | undefined;
  readonly faults: TranslationFaults;
}

/** A change of one object: `before` undefined, it is new; `after` undefined, it is gone. */
interface ObjectChange {
  readonly key: string;
  readonly before: Resource | undefined;
  readonly after: Resource | undefined;
}

/**
 * Takes up changes together, in halves where something throws, until single ones are left that throw. Each step continues from the one
 * before: in all it costs some translations of what changed, and for each fault as many parts as halves were made.
 */
function* isolated(given: Snapshot, options: TranslateOptions, { sound, faults: known }: Earlier): CooperativeTask<Translation> {
  let made = sound;
  const found = new Map<string, TranslationFault>();
  /** What was taken up. */
  const admitted: ObjectChange[] = [];
  /** How much had been when each of them threw. */
  const tries = new Map<TranslationFault, number>();

  function* attempt(from: Translation | undefined, changes: readonly ObjectChange[]): CooperativeTask<Attempt> {
    try {
      return { made: yield* translateOrThrow((from?.cache.given ?? emptySnapshot()).apply(deltaOf(changes)), options, from) };
    } catch (error) {
      return { error };
    }
  }

  /** Takes up what throws nothing; else gives what was thrown. */
  function* tried(changes: readonly ObjectChange[]): CooperativeTask<{ readonly error: unknown } | undefined> {
    const next = yield* attempt(made, changes);
    if ("error" in next) return next;
    made = next.made;
    admitted.push(...changes);
    return undefined;
  }

  /** What stands for an object that throws, which is taken up. */
  function* blamed({ key, before, after }: ObjectChange, error: unknown): CooperativeTask<void> {
    const object = after ?? before;
    if (object === undefined) return;
    const was = known.get(key);
    const earlier = was?.isClosed === true ? undefined : (before ?? was?.inPlace);
    const standIn = earlier === undefined && after !== undefined ? closedStandIn(after, error) : undefined;
    const isClosed = standIn !== undefined && (yield* tried([{ key, before, after: standIn }])) === undefined;
    const inPlace = isClosed ? standIn : (earlier ?? before);
    const fault = { ref: refOf(object), object, inPlace, isClosed, isGone: after === undefined, error };
    found.set(key, fault);
    tries.set(fault, admitted.length);
    if (found.size > MOST_FAULTS) throw error;
  }

  /**
   * The changes that were taken up and without any of which this one throws nothing: found by taking all up again, a part at a time, as what
   * throws when it is read cannot be removed either. None: it throws by itself, or with too many.
   */
  function* partnersOf(change: ObjectChange): CooperativeTask<readonly ObjectChange[]> {
    const partners: ObjectChange[] = [];
    let end = admitted.length;
    while (!("error" in (yield* attempt(sound, [...partners, change])))) {
      let [from, low, high] = [sound, 0, end];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        const part = yield* attempt(from, admitted.slice(low, middle));
        if ("error" in part) return [];
        if ("error" in (yield* attempt(part.made, [...partners, change]))) high = middle;
        else [from, low] = [part.made, middle];
      }
      const partner = admitted[low];
      if (partner === undefined || end === 0 || partners.length === MOST_PARTNERS) return [];
      partners.push(partner);
      end = low;
    }
    return partners;
  }

  /**
   * Of objects that throw together the one is left out without which most is made: a policy rather than the service that it is about, and a service
   * rather than the mesh that it is in.
   */
  function* settle(change: ObjectChange, error: unknown): CooperativeTask<void> {
    let best: { readonly blamed: ObjectChange; readonly made: Translation | undefined } = { blamed: change, made };
    for (const partner of yield* partnersOf(change)) {
      const others = admitted.filter((one) => one !== partner);
      const next = yield* attempt(sound, [...others, change]);
      if ("made" in next && outputsOf(next.made) > outputsOf(best.made)) best = { blamed: partner, made: next.made };
    }
    if (best.blamed !== change) {
      admitted.splice(admitted.indexOf(best.blamed), 1);
      admitted.push(change);
      made = best.made;
    }
    yield* blamed(best.blamed, error);
  }

  function* admit(changes: readonly ObjectChange[]): CooperativeTask<void> {
    const [first] = changes;
    if (first === undefined) return;
    const thrown = yield* tried(changes);
    if (thrown === undefined) return;
    if (changes.length === 1) return yield* settle(first, thrown.error);
    const half = changes.length >> 1;
    yield* admit(changes.slice(0, half));
    yield* admit(changes.slice(half));
  }

  const changes = changesBetween(sound?.cache.given ?? emptySnapshot(), given);
  // What threw before most likely throws again: it must not cost the others their halves.
  const isSuspect = ({ key, before, after }: ObjectChange) => known.get(key)?.object === (after ?? before);
  yield* admit(changes.filter((change) => !isSuspect(change)));
  for (const change of changes.filter(isSuspect)) {
    const thrown = yield* tried([change]);
    if (thrown !== undefined) yield* blamed(change, thrown.error);
  }
  // Some may have thrown only as what they refer to had not been taken up.
  for (const [key, fault] of [...found]) {
    if (tries.get(fault) === admitted.length) continue;
    const change = changes.find((one) => one.key === key);
    if (change !== undefined && (yield* tried([change])) === undefined) found.delete(key);
  }
  if (made === undefined || made.cache.options !== options) {
    made = yield* translateOrThrow(made?.cache.given ?? emptySnapshot(), options, made);
  }
  return withFaults(made, given, asKnown(found, known));
}

type Attempt = { readonly made: Translation } | { readonly error: unknown };

function deltaOf(changes: readonly ObjectChange[]): Delta {
  return {
    put: changes.flatMap(({ after }) => after ?? []),
    remove: changes.flatMap(({ before, after }) => (after === undefined && before !== undefined ? [refOf(before)] : [])),
  };
}

function outputsOf(made: Translation | undefined): number {
  return made === undefined ? 0 : made.networking.size + made.discovery.size;
}

/** What is as it was keeps its identity, so that nothing that follows from it is made again. */
function asKnown(found: TranslationFaults, known: TranslationFaults): TranslationFaults {
  const faults = new Map<string, TranslationFault>();
  for (const [key, fault] of found) {
    const was = known.get(key);
    const isSame = was?.object === fault.object && was.inPlace === fault.inPlace && messageOf(was.error) === messageOf(fault.error);
    faults.set(key, isSame ? was : fault);
  }
  return faults.size === known.size && [...faults].every(([key, fault]) => known.get(key) === fault) ? known : faults;
}

// Of more, something else is wrong than single objects: a server that continued would desire nothing of clusters that it knows.
const MOST_FAULTS = 64;
// A row is made of few objects.
const MOST_PARTNERS = 8;
const NO_FAULTS: TranslationFaults = new Map();

/** In the order in which a throw is blamed on the later one: what is gone, what clusters have, then what users ask of it. */
function changesBetween(before: Snapshot, after: Snapshot): readonly ObjectChange[] {
  const { put, remove } = deltaBetween(before, after);
  const was = (ref: ResourceRef) => before.collections().get(kindKeyOf(ref))?.get(ref);
  const changeOf = (ref: ResourceRef, now: Resource | undefined): ObjectChange => ({
    key: resourceKeyOf(ref),
    before: was(ref),
    after: now,
  });
  const changed = put.map((resource) => changeOf(refOf(resource), resource));
  return [
    ...remove.map((ref) => changeOf(ref, undefined)),
    ...changed.filter(({ after }) => !isUsers(after)),
    ...changed.filter(({ after }) => isUsers(after)),
  ];
}

function isUsers(resource: Resource | undefined): boolean {
  const kind = resource && kindOf(resource.apiVersion, resource.kind);
  return kind !== undefined && hasUserStatus(kind);
}

function withFaults(made: Translation, given: Snapshot, faults: TranslationFaults): Translation {
  const { inputs, attached, discovery, networking, cache } = made;
  let reports: readonly Report[] | undefined;
  return {
    inputs,
    attached,
    discovery,
    networking,
    get reports() {
      reports ??= [...[...faults.values()].map(faultReport), ...made.reports];
      return reports;
    },
    faults,
    cache: { ...cache, given, sound: made },
  };
}
