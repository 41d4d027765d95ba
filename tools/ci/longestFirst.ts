import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { readTestTimes } from "./testTimes.ts";

/**
 * A sequencer that begins with the test files that took longest when they last ran, so that no lane waits for one of them in the end. One that is not
 * known yet may be the longest.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const times = readTestTimes(root);
    const seconds = ({ moduleId }: TestSpecification): number => times[relative(root, moduleId)]?.wallSeconds ?? Number.POSITIVE_INFINITY;
    return [...files].sort((a, b) => {
      const [first, second] = [seconds(a), seconds(b)];
      return first === second ? (a.moduleId < b.moduleId ? -1 : 1) : second - first;
    });
  }
}
