import type { Snapshot } from "@isthmus/core";
import { type TranslateOptions, type Translation, translate } from "@isthmus/translators";

/** A translation in which nothing throws: that a throw costs one object alone must hide no bug from tests. */
export function soundTranslation(given: Snapshot, options: TranslateOptions, previous?: Translation): Translation {
  const made = translate(given, options, previous);
  for (const { error } of made.faults.values()) throw error;
  return made;
}
