import { type Clock, deltaBetween, emptySnapshot, type Kind, type Snapshot } from "@isthmus/core";
import { runTimeSliced, SLICE_MS, wasExcluded } from "@isthmus/plane";
import { type TranslateOptions, type Translation, translatedFieldsOf, translateInSteps } from "@isthmus/translators";

export interface StoreTranslationOptions extends Pick<TranslateOptions, "namespace" | "disallowIntersectingConfig"> {
  /** The kind that registers clusters. */
  readonly registration: Kind;
  readonly clock: Clock;
}

/** Translates what the store has, as the server did: "" is the management cluster. The same translation while nothing changes; a change costs what follows from it. */
export function storeTranslation({
  registration,
  clock,
  ...options
}: StoreTranslationOptions): (parts: ReadonlyMap<string, Snapshot>, signal: AbortSignal) => Promise<Translation> {
  const before = new Map<string, Snapshot>();
  let inputs = emptySnapshot();
  let translation: { readonly of: Snapshot; readonly offline: string; readonly made: Translation } | undefined;

  /** One part after another, so that what was taken up is known when another is interrupted. */
  function take(name: string, now: Snapshot): void {
    const older = before.get(name) ?? emptySnapshot();
    if (older === now) return;
    const { put, remove } = deltaBetween(older, now);
    inputs = inputs.apply({ put: name === "" ? put.map(translatedFieldsOf) : put, remove });
    before.set(name, now);
  }

  return async (parts, signal) => {
    for (const [name, now] of parts) take(name, now);
    for (const name of [...before.keys()]) {
      if (parts.has(name)) continue;
      take(name, emptySnapshot());
      before.delete(name);
    }
    // As the last leader has decided.
    const offline = new Set([...(parts.get("")?.of(registration) ?? [])].filter(wasExcluded).map(({ metadata }) => metadata.name));
    const names = [...offline].join();
    if (translation?.of === inputs && translation.offline === names) return translation.made;
    const steps = translateInSteps(inputs, { ...options, stage: "all", offline }, translation?.made);
    translation = { of: inputs, offline: names, made: await runTimeSliced(steps, { clock, sliceMs: SLICE_MS }, signal) };
    return translation.made;
  };
}
