import type { Snapshot } from "@isthmus/core";
import type { Changes } from "../incremental/changes.ts";
import type { TranslationContext } from "../meshes/inputs.ts";

/** One run of attachment: what it reads, and what is new there. */
export interface AttachmentStep {
  readonly inputs: Snapshot;
  readonly translationContext: TranslationContext;
  /** Clusters that others are to call no more. */
  readonly offline: ReadonlySet<string>;
  /** Since the run before; undefined from scratch. */
  readonly since: { readonly inputs: Snapshot; readonly changes: Changes; readonly translationContext: TranslationContext } | undefined;
}
