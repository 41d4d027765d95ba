import type { Edit } from "./edit.ts";

/** A worked example of one section of CONTRIBUTING.md. */
export interface Recipe {
  /** The heading of the section. */
  readonly heading: string;
  /** Whether `.ci/nightly` alone tries it. Default: false. */
  readonly isNightly?: boolean;
  /** Whether the condition of the section's additional file ("A fifth, …, if …") holds for the example. */
  readonly needsAdditionalFile?: boolean;
  /** The values of the placeholders in the section's paths: `case` for `<case>`. */
  readonly names: Readonly<Record<string, string>>;
  /** What a contributor writes by hand. */
  readonly edits: readonly Edit[];
  /** Test files that the change affects, besides the golden pairs. */
  readonly tests: readonly string[];
  /** For each golden pair that the example adds, `.out.yaml` by path: a text that shows the change. */
  readonly golden: Readonly<Record<string, string>>;
}
