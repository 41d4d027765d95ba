import { emptyTable, type Report, type Resource, type Table } from "@isthmus/core";
import type { Reporting } from "../attachment/attachment.ts";
import type { DiscoveryRow } from "../discovery/discoveryResult.ts";
import { entriesOf, type LookupTable } from "../incremental/lookupTable.ts";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { faultReport } from "../pipeline/faultReport.ts";
import type { Translation } from "../pipeline/translate.ts";
import { REPORTING } from "./newReports.ts";

/** Called with a table whose rows tell something, and with what one of them tells. */
export type ReportTableVisitor<X> = <T extends object>(
  table: (translation: Translation) => LookupTable<T>,
  reportsOf: (row: T) => readonly Report[],
) => X;

/** Every table whose rows tell something of an object, discovery's included: what follows from their reports can be kept row by row. */
export function reportTables<X>(visit: ReportTableVisitor<X>): readonly X[] {
  const told = ({ reports }: Reporting) => reports;
  return [
    ...STAGES.flatMap((stage) => [
      visit(
        ({ cache }): Table<DiscoveryRow<Resource>> => cache.discovery?.memory[stage].rows ?? NO_ROWS,
        ({ result }) => result.reports,
      ),
      visit(({ cache }): Table<Reporting> => cache.discovery?.memory[stage].nameConflicts ?? NO_REPORTS, told),
    ]),
    visit(
      ({ cache }) => entriesOf(asMap(cache.attachment.membership)),
      ({ value }) => value.reports,
    ),
    visit(
      ({ faults }) => entriesOf(faults),
      ({ value }) => [faultReport(value)],
    ),
    ...REPORTING.map((table) => visit(table, told)),
  ];
}

const STAGES = ["meshes", "workloads", "destinations"] as const;
const NO_ROWS = emptyTable<DiscoveryRow<Resource>>(({ key }) => key);
const NO_REPORTS = emptyTable<Reporting>(() => "");
const asMap = memoizeRow((membership: Reporting): ReadonlyMap<string, Reporting> => new Map([["", membership]]));
