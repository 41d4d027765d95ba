import { kindOf } from "@isthmus/api";
import { InvalidResource, type Resource, snapshotOf } from "@isthmus/core";
import { statusesAfter, type Translation, translate, translatedFieldsOf } from "@isthmus/translators";
import { EVIL, GOOD, NAMESPACE } from "../drawing/fleetObjects.ts";
import { OthersHarmed } from "../target.ts";
import { goodObjects, operatorsObjects } from "./goodInputs.ts";

const OPTIONS = { namespace: NAMESPACE, stage: "all" } as const;

/** Translates objects and makes all statuses. Throws OthersHarmed when objects of the evil cluster alone change what a good one gets. */
export type Pipeline = (put: readonly Resource[]) => void;

/** Each input meets the same world: the good clusters and what the operator wrote. */
export async function startPipeline(): Promise<Pipeline> {
  const snapshot = snapshotOf([...(await goodObjects()), ...operatorsObjects().map(translatedFieldsOf)]);
  const translated = translate(snapshot, OPTIONS);
  const statuses = statusesAfter(translated, undefined);
  for (const name of GOOD) {
    if (translated.networking.inCluster(name).size < 10) throw new Error(`${name} gets nothing: there is nothing to watch over`);
  }
  return (put) => {
    if (put.length === 0) return;
    const next = translate(snapshot.apply({ put: put.map(translatedFieldsOf), remove: [] }), OPTIONS, translated);
    // Contained, it is a bug all the same.
    for (const { error } of next.faults.values()) throw error;
    for (const _ of statusesAfter(next, undefined, statuses).all());
    // Users of the management cluster may decide about all.
    if (put.every(({ metadata }) => metadata.clusterName === EVIL)) checkOthers(translated, next);
  };
}

/** An object as its kind reads it; undefined where it is malformed, as every entry point takes it, whatever the reason. */
export function parsed(value: Resource): Resource | undefined {
  try {
    return kindOf(value.apiVersion, value.kind)?.parse(value);
  } catch (error) {
    if (error instanceof InvalidResource || error instanceof RangeError) return undefined;
    throw error;
  }
}

function checkOthers(before: Translation, after: Translation): void {
  for (const name of GOOD) {
    const [change] = after.networking.inCluster(name).changesSince(before.networking.inCluster(name));
    if (change === undefined) continue;
    const text = (output: { readonly resource: Resource } | undefined) => JSON.stringify(output?.resource);
    if (text(change.before) === text(change.after)) continue;
    throw new OthersHarmed(`${name} is to get ${text(change.after)} instead of ${text(change.before)}`);
  }
}
