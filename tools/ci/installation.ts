import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** What became of installing the real components. */
export interface Installation {
  readonly isThere: boolean;
  /** Path of the list that `tests/real/install.sh` has written; "" where there is none. */
  readonly components: string;
  /** Whether something had to be built or installed. */
  readonly wasCold: boolean;
  readonly problems: readonly string[];
}

const LOOK_EVERY_MS = 1_000;

/**
 * Waits until `tests/real/install.sh` has ended, which `.ci/run` began: ISTHMUS_INSTALLED names its output, beside which its exit code is written to
 * `.status`. Where there is no such variable nothing is being installed, and what is there counts.
 */
export async function installed(output = process.env["ISTHMUS_INSTALLED"]): Promise<Installation> {
  if (output === undefined) return { isThere: true, components: "", wasCold: false, problems: [] };
  while (!existsSync(`${output}.status`) || readFileSync(`${output}.status`, "utf8") === "") await sleep(LOOK_EVERY_MS);
  const isThere = readFileSync(`${output}.status`, "utf8").trim() === "0";
  const printed = readFileSync(output, "utf8");
  console.log(`\n=== installing components printed:\n${printed}`);
  const [, components = ""] = /^real components: ready: (.*)$/m.exec(printed) ?? [];
  return {
    isThere,
    components,
    wasCold: /^real components: (?:building|installing)/m.test(printed),
    problems: isThere ? [] : ["tests/real/install.sh failed: see what installing components printed"],
  };
}
