export type { AccessLog, PodsAt } from "./accessLog.ts";
export { parseAccessLogAnswer } from "./accessLogAnswer.ts";
export { type AccessLogAnswer, type AccessLogQuery, accessLogQueryIn, parseAccessLogQuery } from "./accessLogQuery.ts";
export { type AccessLogSink, startAccessLogSink } from "./accessLogSink.ts";
