import { type Index, type Output, type Report, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import { reuseIfEqual } from "../incremental/rows.ts";

/** An object that discovery wants to exist. */
export interface DiscoveredObject<R extends Resource> extends Output {
  readonly resource: R;
}

/** What came of one object that was looked at: without `output` it is not discovered; the reports say why, where a person should know. */
export interface DiscoveryResult<R extends Resource> {
  readonly output?: DiscoveredObject<R>;
  readonly reports: readonly Report[];
}

/** What came of one object, and which that was. */
export interface DiscoveryRow<R extends Resource> {
  /** `keyOf` a source that is a Service, `resourceKeyOf` one of several kinds; of what has many sources, the name that they share. */
  readonly key: string;
  readonly source: Resource;
  readonly result: DiscoveryResult<R>;
}

/** Rows by the name of what was discovered. */
export const byDiscoveredName: Index<DiscoveryRow<Resource>> = ({ result }) =>
  result.output === undefined ? [] : [result.output.resource.metadata.name];

/** The key of a row that follows from one of several kinds. */
export function keyAcrossKinds(resource: Resource): string {
  return resourceKeyOf(refOf(resource));
}

/** What came of one source; the row that was there when it says the same, undefined when nothing came of it. */
export function discoveryRow<R extends Resource>(
  key: string,
  source: Resource,
  result: DiscoveryResult<R>,
  before: DiscoveryRow<R> | undefined,
): DiscoveryRow<R> | undefined {
  if (result.output === undefined && result.reports.length === 0) return undefined;
  const same = reuseIfEqual(result, before?.result);
  return before !== undefined && same === before.result && source === before.source ? before : { key, source, result: same };
}

/** Rows of which there is something to tell, under "". */
export const withReports: Index<DiscoveryRow<Resource>> = ({ result }) => (result.reports.length === 0 ? [] : [""]);
