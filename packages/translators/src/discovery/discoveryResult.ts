import type { Index, Output, Report, Resource } from "@isthmus/core";

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

/** Rows by the cluster of their source. */
export const bySourceCluster: Index<DiscoveryRow<Resource>> = ({ source }) => [source.metadata.clusterName ?? ""];

/** Rows of which there is something to tell, under "". */
export const withReports: Index<DiscoveryRow<Resource>> = ({ result }) => (result.reports.length === 0 ? [] : [""]);
