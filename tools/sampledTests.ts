import { readSourceTree } from "./sourceTree.ts";

/** The test files that call `runs` or `sampled` of packages/testing/src/runs.ts: in `npm test` they try a part, in `npm run test:long` all. */
export function sampledTests(root: string): readonly string[] {
  return [...readSourceTree(root)].flatMap(([path, text]) => (/(?<!\.long)\.test\.ts$/.test(path) && SAMPLES.test(text) ? [path] : []));
}

const SAMPLES = /^import \{[^}]*\b(?:runs|sampled)\b[^}]*\} from "@isthmus\/testing";$/m;
