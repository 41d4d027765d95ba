export type { AccessLog, PodsAt } from "./accessLogs/accessLog.ts";
export { MAX_ANSWER_BYTES, mergedAnswer, parseAccessLogAnswer } from "./accessLogs/accessLogAnswer.ts";
export { type AccessLogClient, accessLogClient, type LoggedBy, type LoggedFlag, type LoggedRequest } from "./accessLogs/accessLogClient.ts";
export {
  type AccessLogAnswer,
  type AccessLogQuery,
  accessLogQueryIn,
  answeredAtMost,
  MAX_ANSWERED,
  MAX_REPLICAS,
  parseAccessLogQuery,
} from "./accessLogs/accessLogQuery.ts";
export { type AccessLogSink, startAccessLogSink } from "./accessLogs/accessLogSink.ts";
export { envoyEntryOf } from "./accessLogs/envoyEntry.ts";
export { expositionParser } from "./exposition.ts";
export { type LeafValidity, leafValidity } from "./leafCertificate.ts";
export { addressProblem } from "./moduleAddress.ts";
export { PROXY_METRICS, proxySignals } from "./proxySignals.ts";
export type { ScrapeAddress } from "./scrapeRequest.ts";
export { type FleetTraffic, fleetTraffic, type TrafficMinutes } from "./traffic/fleetTraffic.ts";
export { type MeshScrape, type MeshScrapeOptions, type ScrapeTarget, startMeshScrape } from "./traffic/meshScrape.ts";
export { parseTrafficAnswer, type TrafficAnswer } from "./traffic/trafficAnswer.ts";
export { type ClusterReport, clusterReport, type EdgeReport } from "./traffic/trafficReport.ts";
export { startTrafficRounds, type TrafficRounds } from "./traffic/trafficRounds.ts";
export { TRAFFIC_METRICS, trafficText } from "./traffic/trafficText.ts";
export { windowsOf } from "./traffic/trafficWindows.ts";
export { failUnanswered } from "./unanswered.ts";
export { type ExtensionConfigs, extensionConfigs } from "./wasm/extensionConfigService.ts";
export type { ExtensionConfig } from "./wasm/extensionConfigStream.ts";
export { registryUserIn } from "./wasm/registryUsers.ts";
export { wasmFilterConfig } from "./wasm/wasmFilter.ts";
export { MAX_OUTCOMES_BYTES, parseWasmOutcomes, wasmOutcomesText } from "./wasm/wasmOutcomes.ts";
export { type WasmOutcome, type WasmServer, wasmServer } from "./wasm/wasmServer.ts";
export { openWorkloadPort, type WorkloadPort } from "./workloadPort.ts";
