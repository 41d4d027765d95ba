import type { EnvoyFilter } from "@isthmus/api";
import { type AccessLogClient, accessLogClient, type LoggedRequest } from "@isthmus/dataplane";
import type { MeshProxy } from "./proxies.ts";
import type { Seen } from "./requests.ts";

/** What a proxy is asked to log. */
export interface ProxyLog {
  readonly name: string;
  readonly takes: (status: number) => boolean;
}

/** The logs that EnvoyFilters ask a proxy for. What they say of headers is not understood: such a log takes everything. */
export function logsOf(filters: readonly EnvoyFilter[]): readonly ProxyLog[] {
  return filters.flatMap(({ spec }) => (spec?.configPatches ?? []).flatMap((patch) => loggersIn(patch).flatMap(logOf)));
}

interface Logger {
  readonly filter?: StatusFilter & { readonly or_filter?: { readonly filters?: readonly StatusFilter[] } };
  readonly typed_config?: { readonly common_config?: { readonly log_name?: string } };
}

interface StatusFilter {
  readonly status_code_filter?: {
    readonly comparison?: { readonly op?: string; readonly value?: { readonly default_value?: number } };
  };
}

function loggersIn(patch: unknown): readonly Logger[] {
  const { value } =
    (patch as { readonly patch?: { readonly value?: { readonly typed_config?: { readonly access_log?: readonly Logger[] } } } }).patch ??
    {};
  return value?.typed_config?.access_log ?? [];
}

function logOf({ filter, typed_config }: Logger): readonly ProxyLog[] {
  const name = typed_config?.common_config?.log_name;
  if (name === undefined) return [];
  const filters = filter === undefined ? [] : (filter.or_filter?.filters ?? [filter]);
  return [{ name, takes: (status) => filters.length === 0 || filters.some((one) => passes(one, status)) }];
}

function passes({ status_code_filter }: StatusFilter, status: number): boolean {
  const { op = "EQ", value } = status_code_filter?.comparison ?? {};
  if (value?.default_value === undefined) return true;
  if (op === "GE") return status >= value.default_value;
  return op === "LE" ? status <= value.default_value : status === value.default_value;
}

/** The access logs of the proxies of one cluster, on their way to its agent. */
export interface AccessLogging {
  /** The port on loopback on which the agent takes them; undefined: it does not run. */
  agentAt(port: number | undefined): void;
  log(logs: readonly ProxyLog[], seen: Seen): void;
  /** Sends what was logged since. */
  flush(): void;
  close(): void;
}

/** Sends nothing before the agent is there, and keeps nothing for it; `trustDomain` is that of the callers' certificates. */
export function accessLogging(options: {
  readonly now: () => number;
  readonly random: () => number;
  readonly trustDomain: string;
}): AccessLogging {
  const waiting = new Map<string, { readonly proxy: MeshProxy; readonly log: string; readonly requests: LoggedRequest[] }>();
  let client: AccessLogClient | undefined;
  let at: number | undefined;
  return {
    agentAt(port) {
      if (port === at) return;
      at = port;
      client?.close();
      client = port === undefined ? undefined : accessLogClient(`127.0.0.1:${port}`);
    },
    log(logs, seen) {
      for (const { name, takes } of logs) {
        if (client === undefined || !takes(seen.outcome.status)) continue;
        const key = `${seen.by.namespace}/${seen.by.pod}/${name}`;
        const entry = waiting.get(key) ?? { proxy: seen.by, log: name, requests: [] };
        waiting.set(key, entry);
        if (entry.requests.length < MOST_WAITING) entry.requests.push(loggedRequest(seen, options));
      }
    },
    flush() {
      for (const { proxy, log, requests } of waiting.values()) client?.send(proxy, log, requests);
      waiting.clear();
    },
    close: () => client?.close(),
  };
}

// Of one proxy and log between two messages.
const MOST_WAITING = 100;

function loggedRequest(
  { side, caller, asked, outcome: { status, ms, details, flags, called, host }, counted }: Seen,
  { now, random, trustDomain }: Parameters<typeof accessLogging>[0],
): LoggedRequest {
  const identity = `spiffe://${trustDomain}/ns/${caller.namespace}/sa/${caller.serviceAccount}`;
  return {
    startMs: now() - ms,
    durationMs: ms,
    upstreamCluster: side === "source" ? `outbound|${asked.port}||${host}` : `inbound|${asked.port}||`,
    downstreamAddress: caller.address,
    ...(called === undefined ? {} : { upstreamAddress: called.address }),
    ...(side === "source" ? {} : { identity }),
    method: asked.method,
    authority: `${asked.host}:${asked.port}`,
    path: asked.path,
    status,
    statusDetails: details,
    flags,
    requestId: Array.from({ length: 4 }, () =>
      Math.floor(random() * 0xffffffff)
        .toString(16)
        .padStart(8, "0"),
    ).join("-"),
    requestBytes: counted.requestBytes,
    responseBytes: counted.responseBytes,
  };
}
