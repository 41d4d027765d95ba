import { fuzzProgram } from "./program.ts";
import { TARGETS } from "./targets.ts";

await fuzzProgram(TARGETS);
