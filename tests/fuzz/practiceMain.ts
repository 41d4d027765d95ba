// The fuzzer with targets that fail on purpose, for its own test. Without the entry points it starts in a tenth of the time.
import { fuzzProgram } from "./program.ts";
import { practice } from "./targets/practice.ts";

await fuzzProgram(practice);
