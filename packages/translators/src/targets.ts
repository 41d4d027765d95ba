import { Destination, Mesh, VirtualMesh } from "@isthmus/api";
import {
  emptyTable,
  equalJson,
  exactly,
  fullKeyOf,
  type Kind,
  keyOfResource,
  kindKeyOf,
  type Output,
  type Report,
  type Steps,
  sharedText,
  type Table,
} from "@isthmus/core";
import type { AffectedTargets } from "./attachment/affectedTargets.ts";
import { type AssemblySources, destinationInputs, meshInputs, virtualMeshInputs } from "./attachment/assembly.ts";
import { indexedForTargets } from "./attachment/indexes.ts";
import { isSameRecord, remade, steady } from "./incremental/rows.ts";
import { type TargetInputs, translateTarget } from "./networking/targets.ts";

/** Whatever networking makes something of, with what it made. */
export interface Target {
  /** `resourceKeyOf` the Destination, Mesh or VirtualMesh. */
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
export function noTargets(): Table<Target> {
  return emptyTable(({ key }) => key);
}

/** Translates the affected targets whose inputs are not the same objects as before. */
export function* translateTargets(sources: AssemblySources, before: Table<Target>, affected: AffectedTargets): Steps<Table<Target>> {
  yield* indexedForTargets(sources.step.inputs);
  const destinations = yield* remake(before, Destination, affected.destinations, (key, inputs) =>
    destinationInputs(key, sources, inputs !== undefined && "destination" in inputs ? inputs : undefined),
  );
  const meshes = yield* remake(destinations, Mesh, affected.meshes, (key) => meshInputs(key, sources));
  const accepted = new Map(sources.attachment.membership.accepted.map((virtualMesh) => [keyOfResource(virtualMesh), virtualMesh]));
  return yield* remake(meshes, VirtualMesh, affected.virtualMeshes, (key) => {
    const virtualMesh = accepted.get(key);
    return virtualMesh && virtualMeshInputs(virtualMesh, sources);
  });
}

function remake(
  table: Table<Target>,
  kind: Kind,
  keys: Iterable<string>,
  inputsOf: (key: string, before: TargetInputs | undefined) => TargetInputs | undefined,
): Steps<Table<Target>> {
  const prefix = `${kindKeyOf(kind)}|`;
  return remade(table, prefixed(prefix, keys), (key, before) => {
    const inputs = inputsOf(key.slice(prefix.length), before?.inputs);
    if (inputs === undefined) return undefined;
    return before !== undefined && isSameRecord(before.inputs, inputs) ? before : translated(key, inputs, before);
  });
}

function* prefixed(prefix: string, keys: Iterable<string>): Iterable<string> {
  for (const key of keys) yield sharedText([prefix, key].join(""));
}

/** Outputs that say the same as before stay the same objects. */
function translated(given: string, inputs: TargetInputs, before: Target | undefined): Target {
  // The text that outputs of before hold already.
  const key = before?.key ?? given;
  const result = translateTarget(inputs);
  const knownByKey = before && new Map(before.outputs.map((output) => [output.key, output]));
  const outputs = result.outputs.map(({ resource, parents }): TargetOutput => {
    const outputKey = fullKeyOf(resource);
    const known = knownByKey?.get(outputKey);
    return known !== undefined && equalJson(known.resource, resource) && equalJson(known.parents, parents)
      ? known
      : { resource, parents, key: outputKey, target: key };
  });
  return { key, inputs, outputs, reports: steady(exactly(result.reports), before?.reports) };
}
