import type { AccessLog, RequestEnd } from "./accessLog.ts";

/** Which entries somebody wants; what is left out does not limit. */
export interface AccessLogQuery {
  /** The workload whose proxy logged it: `namespace/name` or a name, also of a pod. */
  readonly workload?: string;
  /** Who called: a workload, a pod or a service account. */
  readonly from?: string;
  /** Who was called: a workload, a pod, a Service or a host. */
  readonly to?: string;
  /** A code such as `503`, or a class such as `5xx`. */
  readonly status?: string;
  /** The number of entries. Default 50, at most `MAX_ANSWERED`. */
  readonly limit?: number;
  /** Only entries after this time, in milliseconds since 1970. */
  readonly since?: number;
}

/** What one replica of an agent knows. */
export interface AccessLogAnswer {
  /** The newest first. */
  readonly entries: readonly AccessLog[];
  /** False: older entries were not looked at, as there are too many. */
  readonly complete: boolean;
  /** Entries since the agent started: arrived, and gone to make room for others. */
  readonly received: number;
  readonly dropped: number;
  /** Pods of other replicas of the agent that did not answer, whose entries are not among these; at most `MAX_REPLICAS`. Absent: there are none. */
  readonly otherReplicas?: readonly string[];
}

/** Replicas that an answer names. */
export const MAX_REPLICAS = 20;

/** Entries in one answer. */
export const MAX_ANSWERED = 500;

/** How many entries answer a query. */
export function answeredAtMost({ limit = DEFAULT_ANSWERED }: AccessLogQuery): number {
  return Math.min(limit, MAX_ANSWERED);
}

const DEFAULT_ANSWERED = 50;

/** A query in the parameters of a page. Throws for a status that is none. */
export function accessLogQueryIn(parameters: URLSearchParams): AccessLogQuery {
  const { limit, since, ...texts } = Object.fromEntries(parameters);
  const numbers = { ...(limit === undefined ? {} : { limit: Number(limit) }), ...(since === undefined ? {} : { since: Number(since) }) };
  return parseAccessLogQuery(JSON.stringify({ ...texts, ...numbers }));
}

/** A query that was sent as JSON. Throws for anything else. */
export function parseAccessLogQuery(text: string): AccessLogQuery {
  const given: unknown = JSON.parse(text);
  if (typeof given !== "object" || given === null) throw new TypeError("an access log query is a JSON object");
  const fields = given as Readonly<Record<string, unknown>>;
  const textIn = (name: string) => (typeof fields[name] === "string" && fields[name] !== "" ? { [name]: fields[name] } : {});
  const numberIn = (name: string) => (typeof fields[name] === "number" && fields[name] >= 0 ? { [name]: fields[name] } : {});
  if (typeof fields["status"] === "string" && !isStatusPattern(fields["status"])) throw new TypeError(`${fields["status"]} is no status`);
  return { ...textIn("workload"), ...textIn("from"), ...textIn("to"), ...textIn("status"), ...numberIn("limit"), ...numberIn("since") };
}

/** Whether a text is a code, such as `503`, or a class of codes, such as `5xx`. */
function isStatusPattern(text: string): boolean {
  return /^[1-5](\d\d|xx)$/.test(text);
}

/** Whether an entry's code is asked for: known without decoding it. */
export function statusMatches(pattern: string | undefined, status: number): boolean {
  if (pattern === undefined) return true;
  return pattern.endsWith("xx") ? Math.trunc(status / 100) === Number(pattern[0]) : status === Number(pattern);
}

/** Whether an entry's ends and proxy are asked for. */
export function endsMatch({ workload, from, to, since }: AccessLogQuery, log: AccessLog): boolean {
  const { namespace, workloadName, podName } = log.proxy;
  return (
    (workload === undefined || isNamed({ namespace, name: workloadName, podName }, workload)) &&
    (from === undefined || isNamed(log.source, from)) &&
    (to === undefined || isNamed(log.destination, to)) &&
    (since === undefined || Date.parse(log.time) > since)
  );
}

function isNamed({ namespace, name, podName, address, identity }: RequestEnd, wanted: string): boolean {
  const account = /\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(identity ?? "");
  const names = [name, podName].filter((one) => one !== undefined);
  return (
    names.some((one) => one === wanted || `${namespace}/${one}` === wanted) ||
    (account !== null && (account[2] === wanted || `${account[1]}/${account[2]}` === wanted)) ||
    address === wanted
  );
}
