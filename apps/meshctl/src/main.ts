import { processIo } from "./io.ts";
import { meshctl } from "./meshctl.ts";

process.exitCode = await meshctl(process.argv.slice(2), processIo());
