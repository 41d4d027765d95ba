import { expositionParser, type MetricSample } from "./exposition.ts";
import type { FetchAllowance } from "./moduleAddress.ts";
import { type ScrapeAddress, scrapeOnce } from "./scrapeRequest.ts";

/** Of the certificate of a proxy. */
export interface LeafValidity {
  /** For so many seconds it is still valid. */
  readonly secondsLeft: number;
  /** When it ends by the clock of its pod, in milliseconds since 1970, to a second; undefined: the pod does not say what time it is there. */
  readonly endsAt: number | undefined;
}

/**
 * For how long the certificate of a pod's proxy is still valid, as Istio's agent beside the proxy says at `address`; undefined
 * where it says nothing of it. Rejects with an Error when it does not answer, or when `signal` is aborted. Source: Istio,
 * security/pkg/nodeagent/cache/monitoring.go; pilot/cmd/pilot-agent/status/server.go writes its own metrics first.
 */
export async function leafValidity(
  address: string,
  { port = STATUS_PORT, allowance }: { readonly port?: number; readonly allowance?: FetchAllowance },
  signal: AbortSignal,
): Promise<LeafValidity | undefined> {
  let left: number | undefined;
  let answeredAt: number | undefined;
  const dated = (moment: number | undefined) => {
    answeredAt = moment;
  };
  const parser = expositionParser(
    NAMES,
    ({ labels, value }: MetricSample) => {
      if (labels.get("resource_name") === "default" && Number.isFinite(value)) left = value;
    },
    LIMITS,
  );
  const at: ScrapeAddress = { address, port, path: "/stats/prometheus" };
  // Half a megabyte of Envoy's follows, which says nothing of it.
  const take = (part: Uint8Array) => parser.write(part) && left === undefined;
  await scrapeOnce(at, { timeoutMs: TIMEOUT_MS, take, dated, ...(allowance === undefined ? {} : { allowance }) }, signal);
  parser.end();
  if (left === undefined) return undefined;
  return { secondsLeft: left, endsAt: answeredAt === undefined ? undefined : answeredAt + left * 1_000 };
}

const NAMES = new Set(["istio_agent_cert_expiry_seconds"]);
const LIMITS = { bytes: 1024 * 1024, samples: 16 };
const STATUS_PORT = 15020;
const TIMEOUT_MS = 2_000;
