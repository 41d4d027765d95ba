import { excessOf, keptText } from "@isthmus/core";
import type { AccessLog } from "./accessLog.ts";
import { type AccessLogAnswer, MAX_ANSWERED, MAX_REPLICAS } from "./accessLogQuery.ts";

/** The largest answer, as JSON in bytes of UTF-8: servers ask many agents at a time, and hold their answers in memory. */
export const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * What several replicas of an agent answered to a query for at most `limit` entries, as one answer with the newest of them. `missing`: the pods of those
 * that did not.
 */
export function mergedAnswer(answers: readonly AccessLogAnswer[], limit: number, missing: readonly string[]): AccessLogAnswer {
  const all = answers
    .flatMap(({ entries }) => entries)
    .sort((left, right) => (left.time < right.time ? 1 : left.time > right.time ? -1 : 0));
  const entries: AccessLog[] = [];
  let bytes = 0;
  for (const entry of all.slice(0, limit)) {
    bytes += answeredBytes(entry);
    if (bytes > MAX_ANSWER_BYTES) break;
    entries.push(entry);
  }
  const sumOf = (name: "received" | "dropped") => answers.reduce((sum, answer) => sum + answer[name], 0);
  return {
    entries,
    complete: entries.length === all.length && answers.every(({ complete }) => complete),
    received: sumOf("received"),
    dropped: sumOf("dropped"),
    ...(missing.length === 0 ? {} : { otherReplicas: missing.slice(0, MAX_REPLICAS) }),
  };
}

/** How much of an answer an entry takes. */
export function answeredBytes(entry: AccessLog): number {
  return Buffer.byteLength(JSON.stringify(entry)) + 1;
}

/**
 * What an agent answered. Throws for whatever is no answer, or more than one may be: an agent answers for its own cluster, and what it sends
 * must not keep the answers of others from those who asked.
 */
export function parseAccessLogAnswer(bytes: Uint8Array): AccessLogAnswer {
  // What stands around the entries is a hundred bytes.
  if (bytes.length > MAX_ANSWER_BYTES + 1024) throw new TypeError(`the agent's answer has more than ${MAX_ANSWER_BYTES / 1024} KiB`);
  const { entries, complete, received, dropped, otherReplicas } = membersOf(parsed(new TextDecoder().decode(bytes)));
  const isRead = Array.isArray(entries) && entries.length <= MAX_ANSWERED && excessOf(entries, MAX_ANSWER_BYTES) === undefined;
  if (!isRead || !entries.every(isAccessLog)) throw unreadable();
  const others = podNamesIn(otherReplicas);
  return {
    entries,
    complete: complete === true,
    received: countOf(received),
    dropped: countOf(dropped),
    ...(others.length === 0 ? {} : { otherReplicas: others }),
  };
}

function podNamesIn(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  const names = value.slice(0, MAX_REPLICAS).filter((one): one is string => typeof one === "string");
  return names.map((name) => keptText(name, LONGEST_NAME));
}

const LONGEST_NAME = 253;

/** Whether all is there that an entry always has, and each member has its type. */
function isAccessLog(value: unknown): value is AccessLog {
  const entry = membersOf(value);
  const { time, proxy, source, destination, flags } = entry;
  const hasTexts = TEXTS.every((name) => entry[name] === undefined || typeof entry[name] === "string");
  const hasNumbers = NUMBERS.every((name) => entry[name] === undefined || typeof entry[name] === "number");
  const hasEnds = [proxy, source, destination].every((end) => isMap(end) && Object.values(end).every((text) => typeof text === "string"));
  const hasFlags =
    Array.isArray(flags) &&
    flags.every((flag) => typeof membersOf(flag)["code"] === "string" && typeof membersOf(flag)["meaning"] === "string");
  return typeof time === "string" && typeof entry["verified"] === "boolean" && hasTexts && hasNumbers && hasEnds && hasFlags;
}

const TEXTS = ["protocol", "logName", "direction", "method", "authority", "path", "statusDetails", "failure", "requestId"] as const;
const NUMBERS = ["status", "durationMs", "upstreamMs", "receivedBytes", "sentBytes"] as const;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable();
  }
}

function unreadable(): TypeError {
  return new TypeError("the agent's answer is no list of access log entries: upgrade it, or look at its log");
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMap(value) ? value : {};
}

function countOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
