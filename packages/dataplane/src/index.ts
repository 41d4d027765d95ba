export type { AccessLog, PodsAt } from "./accessLog.ts";
export { parseAccessLogAnswer } from "./accessLogAnswer.ts";
export {
  type AccessLogAnswer,
  type AccessLogQuery,
  accessLogQueryIn,
  MAX_ANSWERED,
  MAX_REPLICAS,
  parseAccessLogQuery,
} from "./accessLogQuery.ts";
export { type AccessLogSink, startAccessLogSink } from "./accessLogSink.ts";
export { envoyEntryOf } from "./envoyEntry.ts";
export { type ExtensionConfigs, extensionConfigs } from "./extensionConfigService.ts";
export type { ExtensionConfig } from "./extensionConfigStream.ts";
export { registryUserIn } from "./registryUsers.ts";
export { wasmFilterConfig } from "./wasmFilter.ts";
export { type WasmServer, wasmServer } from "./wasmServer.ts";
export { openWorkloadPort, type WorkloadPort } from "./workloadPort.ts";
