export type { AccessLog, PodsAt } from "./accessLog.ts";
export { MAX_ANSWER_BYTES, mergedAnswer, parseAccessLogAnswer } from "./accessLogAnswer.ts";
export { type AccessLogClient, accessLogClient, type LoggedBy, type LoggedFlag, type LoggedRequest } from "./accessLogClient.ts";
export {
  type AccessLogAnswer,
  type AccessLogQuery,
  accessLogQueryIn,
  answeredAtMost,
  MAX_ANSWERED,
  MAX_REPLICAS,
  parseAccessLogQuery,
} from "./accessLogQuery.ts";
export { type AccessLogSink, startAccessLogSink } from "./accessLogSink.ts";
export { envoyEntryOf } from "./envoyEntry.ts";
export { expositionParser } from "./exposition.ts";
export { type ExtensionConfigs, extensionConfigs } from "./extensionConfigService.ts";
export type { ExtensionConfig } from "./extensionConfigStream.ts";
export { type FleetTraffic, fleetTraffic, type TrafficMinutes } from "./fleetTraffic.ts";
export { type LeafValidity, leafValidity } from "./leafCertificate.ts";
export { type MeshScrape, type MeshScrapeOptions, type ScrapeTarget, startMeshScrape } from "./meshScrape.ts";
export { addressProblem } from "./moduleAddress.ts";
export { PROXY_METRICS, proxySignals } from "./proxySignals.ts";
export { registryUserIn } from "./registryUsers.ts";
export type { ScrapeAddress } from "./scrapeRequest.ts";
export { parseTrafficAnswer, type TrafficAnswer } from "./trafficAnswer.ts";
export { type ClusterReport, clusterReport, type EdgeReport } from "./trafficReport.ts";
export { startTrafficRounds, type TrafficRounds } from "./trafficRounds.ts";
export { TRAFFIC_METRICS, trafficText } from "./trafficText.ts";
export { windowsOf } from "./trafficWindows.ts";
export { failUnanswered } from "./unanswered.ts";
export { wasmFilterConfig } from "./wasmFilter.ts";
export { MAX_OUTCOMES_BYTES, parseWasmOutcomes, wasmOutcomesText } from "./wasmOutcomes.ts";
export { type WasmOutcome, type WasmServer, wasmServer } from "./wasmServer.ts";
export { openWorkloadPort, type WorkloadPort } from "./workloadPort.ts";
