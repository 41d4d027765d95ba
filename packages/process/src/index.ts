export { type AdminOptions, type Page, startAdmin } from "./admin.ts";
export type { Authorize } from "./admission.ts";
export { diagnosticsPage } from "./diagnostics.ts";
export { listPage } from "./listPage.ts";
export { createLog } from "./log.ts";
export { type Metrics, startMetrics } from "./metrics.ts";
export { isOn, parsedOptions, portNumber } from "./options.ts";
export { runProgram } from "./program.ts";
export { objectsIn, snapshotPage } from "./snapshotPage.ts";
