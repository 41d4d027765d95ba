import { type DestinationSelector, lastAcceptedSpecOf, VirtualDestination, type VirtualDestinationSpec } from "@isthmus/api";
import { equalJson } from "@isthmus/core";
import type { Finding } from "../../findings.ts";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { meshTranslators } from "../../meshes/meshTranslators.ts";
import { selectionKeys } from "../../policy/selection.ts";
import { targetSelectorsOf, virtualDestinationFindings } from "../../policy/virtualDestinations/virtualDestinationFindings.ts";

/** What may be in force of a VirtualDestination. */
export interface VirtualDestinationForm {
  readonly spec: VirtualDestinationSpec;
  readonly selectors: readonly DestinationSelector[];
  /** About the spec by itself. */
  readonly findings: readonly Finding[];
}

/**
 * What may be in force of a VirtualDestination: its spec, then the last one that was without errors, where that is another. Those of
 * workload clusters are not translated: hosts are given by the management cluster alone.
 */
export const formsOf = memoizeRow((virtualDestination: VirtualDestination): readonly VirtualDestinationForm[] => {
  const { metadata, spec = {} } = virtualDestination;
  if ((metadata.clusterName ?? "") !== "") return NONE;
  const last = lastAcceptedSpecOf(VirtualDestination, virtualDestination);
  return [spec, ...(last === undefined || equalJson(last, spec) ? [] : [last])].map((one) => ({
    spec: one,
    selectors: targetSelectorsOf(one),
    findings: [
      ...virtualDestinationFindings(one),
      ...meshTranslators.flatMap((translator) => translator.virtualDestinationFindings?.(one) ?? []),
    ],
  }));
});

/** Whether nothing is wrong with it by itself. */
export function isSound({ findings }: Pick<VirtualDestinationForm, "findings">): boolean {
  return findings.every(({ state }) => state !== "INVALID");
}

/** VirtualDestinations by what their selectors are found under. */
export function bySelectedTargets(virtualDestination: VirtualDestination): readonly string[] {
  return [...new Set(formsOf(virtualDestination).flatMap(({ selectors }) => (selectors.length === 0 ? [] : selectionKeys(selectors))))];
}

/** The hosts of those forms that are sound by themselves. */
export function possibleHosts(virtualDestination: VirtualDestination): readonly string[] {
  return [...new Set(formsOf(virtualDestination).flatMap((form) => (isSound(form) ? [form.spec.hostname ?? ""] : [])))];
}

const NONE: readonly never[] = [];
