import { BaseSequencer, type TestSpecification } from "vitest/node";

/** A sequencer that begins with these suites (ends of their paths), in this order, so that no lane waits for one of them in the end. */
export function longestFirst(longest: readonly string[]): typeof BaseSequencer {
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const rank = ({ moduleId }: TestSpecification): number => {
        const found = longest.findIndex((name) => moduleId.endsWith(name));
        return found < 0 ? longest.length : found;
      };
      return [...files].sort((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1));
    }
  };
}
