import { type Clock, deltaBetween, emptySnapshot, type Snapshot } from "@isthmus/core";
import { runTimeSliced, SLICE_MS } from "@isthmus/plane";
import { type Translation, translatedFieldsOf, translateInSteps } from "@isthmus/translators";

/** Translates what the store has, as the server did: "" is the management cluster. The same translation while nothing changes; a change costs what follows from it. */
export function storeTranslation(
  namespace: string,
  clock: Clock,
): (parts: ReadonlyMap<string, Snapshot>, signal: AbortSignal) => Promise<Translation> {
  const before = new Map<string, Snapshot>();
  let inputs = emptySnapshot();
  let translation: { readonly of: Snapshot; readonly made: Translation } | undefined;

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
    if (translation?.of === inputs) return translation.made;
    const steps = translateInSteps(inputs, { namespace, stage: "all" }, translation?.made);
    translation = { of: inputs, made: await runTimeSliced(steps, { clock, sliceMs: SLICE_MS }, signal) };
    return translation.made;
  };
}
