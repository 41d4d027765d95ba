import type { Output, Report, Resource } from "@isthmus/core";

/** An object that discovery wants to exist. */
export interface Found<R extends Resource> extends Output {
  readonly resource: R;
}

/** What came of one object that was looked at: without `output` it is not discovered; the reports say why, where a person should know. */
export interface Discovery<R extends Resource> {
  readonly output?: Found<R>;
  readonly reports: readonly Report[];
}
