export { type Reading, startAdmin } from "./admin.ts";
export { createLog } from "./log.ts";
export { isOn, parsedOptions, portNumber } from "./options.ts";
export { runProgram } from "./program.ts";
