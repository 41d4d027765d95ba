import { type EntryChange, emptyTable, type Report, type Resource, type Table } from "@isthmus/core";
import { REPORTING_ATTACHMENTS, type Reporting } from "../attachment/attachment.ts";
import type { NameAssignments } from "../discovery/nameAssignments.ts";
import { faultReport } from "../pipeline/faultReport.ts";
import type { Translation, TranslationFault } from "../pipeline/translate.ts";

/** The findings of a world that were not among those of an older one, at the cost of what changed between them. */
export function newReports(now: Translation, before: Translation | undefined): readonly Report[] {
  const tabled = REPORTING.flatMap((table) =>
    changesOf(table(now), before && table(before)).flatMap((change) => added(change.after, change.before)),
  );
  const membership = added(now.cache.attachment.membership, before?.cache.attachment.membership);
  return [...newFaults(now, before).map(faultReport), ...ofDiscovery(now, before), ...membership, ...tabled];
}

/** Objects that translation throws on, and of which that was not said before in the same words. */
export function newFaults({ faults }: Translation, before: Translation | undefined): readonly TranslationFault[] {
  if (faults === before?.faults) return [];
  return [...faults].flatMap(([key, fault]) => {
    const known = before?.faults.get(key);
    return known !== undefined && faultReport(known).message === faultReport(fault).message ? [] : [fault];
  });
}

/** Whatever tells something of users' resources, in the order in which it does. */
export const REPORTING: readonly ((translation: Translation) => Table<Reporting>)[] = [
  ...REPORTING_ATTACHMENTS.map(
    (table) =>
      ({ cache }: Translation) =>
        table(cache.attachment),
  ),
  ({ cache }) => cache.targets,
  ({ cache }) => cache.outputs.nameConflicts,
];

function ofDiscovery(now: Translation, before: Translation | undefined): readonly Report[] {
  const [found, older] = [now.cache.discovery?.memory, before?.cache.discovery?.memory];
  if (found === undefined) return [];
  return STAGES.flatMap((stage) => newlyTold<Resource>(found[stage], older?.[stage]));
}

function newlyTold<R extends Resource>(now: NameAssignments<R>, before: NameAssignments<R> | undefined): readonly Report[] {
  return [
    ...changesOf(now.rows, before?.rows).flatMap(({ before: was, after }) => added(after?.result, was?.result)),
    ...changesOf<Reporting>(now.nameConflicts, before?.nameConflicts).flatMap(({ before: was, after }) => added(after, was)),
  ];
}

const STAGES = ["meshes", "workloads", "destinations"] as const;

function changesOf<V extends object>(now: Table<V>, before: Table<V> | undefined): readonly EntryChange<V>[] {
  return now.changesSince(before ?? emptyTable<V>(() => ""));
}

function added(now: Reporting | undefined, before: Reporting | undefined): readonly Report[] {
  if (now === undefined || now.reports === before?.reports) return [];
  const known = new Set(before?.reports.map(textOf));
  return now.reports.filter((report) => !known.has(textOf(report)));
}

function textOf({ subject, target, state, code, message }: Report): string {
  return JSON.stringify([subject, target, state, code, message]);
}
