import { Destination, Mesh, VirtualDestination, VirtualMesh, Workload } from "@isthmus/api";
import {
  type CooperativeTask,
  emptyTable,
  equalJson,
  exactly,
  fullKeyOf,
  intern,
  type Kind,
  kindKeyOf,
  type Output,
  type Report,
  type Table,
} from "@isthmus/core";
import { destinationInputs, meshInputs, virtualMeshInputs } from "../attachment/assembly.ts";
import type { AttachedSources } from "../attachment/destinationJoins.ts";
import { virtualDestinationInputs } from "../attachment/virtualDestinations/inputs.ts";
import { workloadInputs } from "../attachment/workloads/workloadInputs.ts";
import type { Derived } from "../incremental/derived.ts";
import { isSameRecord, recompute, reuseIfEqual } from "../incremental/rows.ts";
import type { Transition } from "../incremental/transition.ts";
import { indexedForTargets } from "../policy/indexes.ts";
import { type TargetInputs, translateTarget } from "./translateTarget.ts";

/** Whatever networking makes something of, with what it made. */
export interface TranslatedTarget {
  /** `resourceKeyOf` the Destination, Mesh, VirtualMesh, VirtualDestination or Workload. */
  readonly key: string;
  /** All that its translation could read. */
  readonly inputs: TargetInputs;
  readonly outputs: readonly TargetOutput[];
  readonly reports: readonly Report[];
}

/** An output that knows what it was made of. */
export interface TargetOutput extends Output {
  /** `resourceKeyOf` the output. */
  readonly key: string;
  /** Key of the target. */
  readonly target: string;
}

/** No target. */
export function noTargets(): Table<TranslatedTarget> {
  return emptyTable(({ key }) => key);
}

/** Translates the targets whose inputs are not the same objects as before. */
export function* translateTargets(
  change: Transition<AttachedSources>,
  before: Table<TranslatedTarget>,
): CooperativeTask<Table<TranslatedTarget>> {
  yield* indexedForTargets(change.now.inputs);
  const destinations = yield* translated(before, Destination, { inputs: destinationInputs, change });
  const meshes = yield* translated(destinations, Mesh, { inputs: meshInputs, change });
  const virtualMeshes = yield* translated(meshes, VirtualMesh, { inputs: virtualMeshInputs, change });
  const virtualDestinations = yield* translated(virtualMeshes, VirtualDestination, { inputs: virtualDestinationInputs, change });
  return yield* translated(virtualDestinations, Workload, { inputs: workloadInputs, change });
}

/** The targets of one kind. Only its own rows are asked for what they were. */
function* translated<I extends TargetInputs>(
  table: Table<TranslatedTarget>,
  kind: Kind,
  { inputs, change }: { readonly inputs: Derived<AttachedSources, I>; readonly change: Transition<AttachedSources> },
): CooperativeTask<Table<TranslatedTarget>> {
  const prefix = `${kindKeyOf(kind)}|`;
  const affected = yield* inputs.affected(change);
  yield* inputs.indexed(change.now);
  const inputsOf = inputs.at(change.now);
  return yield* recompute(table, prefixed(prefix, affected), (key, before) => {
    // Under the prefix of a kind are inputs of that kind.
    const next = inputsOf(key.slice(prefix.length), before?.inputs as I | undefined);
    if (next === undefined) return undefined;
    return before !== undefined && isSameRecord(before.inputs, next) ? before : targetOf(key, next, before);
  });
}

function* prefixed(prefix: string, keys: Iterable<string>): Iterable<string> {
  for (const key of keys) yield intern([prefix, key].join(""));
}

/** Outputs that say the same as before stay the same objects. */
function targetOf(given: string, inputs: TargetInputs, before: TranslatedTarget | undefined): TranslatedTarget {
  // The text that outputs of before hold already.
  const key = before?.key ?? given;
  const result = translateTarget(inputs);
  const knownBefore = before && byKey(before.outputs);
  const outputs = result.outputs.map((output, position): TargetOutput => {
    // Mostly a target makes the same objects again, in the same places: no key is made of their names then.
    const here = before?.outputs[position];
    if (here !== undefined && isSameOutput(here, output)) return here;
    const outputKey = fullKeyOf(output.resource);
    const moved = here?.key === outputKey ? undefined : knownBefore?.(outputKey);
    if (moved !== undefined && isSameOutput(moved, output)) return moved;
    return { resource: output.resource, parents: output.parents, key: outputKey, target: key };
  });
  return { key, inputs, outputs, reports: reuseIfEqual(exactly(result.reports), before?.reports) };
}

function isSameOutput(before: TargetOutput, { resource, parents }: Output): boolean {
  return equalJson(before.resource, resource) && equalJson(before.parents, parents);
}

/** Finds outputs by their keys. */
function byKey(outputs: readonly TargetOutput[]): (key: string) => TargetOutput | undefined {
  let all: ReadonlyMap<string, TargetOutput> | undefined;
  return (key) => {
    all ??= new Map(outputs.map((output) => [output.key, output]));
    return all.get(key);
  };
}
