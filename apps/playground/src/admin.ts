import { messageOf, UsageError } from "@isthmus/core";
import { accessLogQueryIn, clusterReport, parseAccessLogAnswer } from "@isthmus/dataplane";
import { ACCESS_LOGS_TOPIC, systemClock } from "@isthmus/plane";
import { type AdminOptions, listPage, startAdmin, startMetrics } from "@isthmus/process";
import type { Demo } from "./demo.ts";

export interface DemoAdminOptions {
  readonly demo: Pick<Demo, "server" | "traffic" | "ask">;
  /** Another is taken when it is not free. */
  readonly port: number;
}

/** Serves metrics, traffic, access logs and certificates on loopback, as the admin port of a server: what `meshctl top`, `logs access` and `cert list` read. */
export async function startDemoAdmin(
  options: DemoAdminOptions,
  signal: AbortSignal,
): Promise<{ readonly port: number; readonly ended: Promise<void> }> {
  const { demo, port } = options;
  const metrics = startMetrics({ source: "server", read: demo.server.metrics });
  const served = { host: "127.0.0.1", isReady: () => demo.server.view.isComplete, metrics, pages: pagesOf(demo) };
  const admin = await startAdmin({ ...served, port }).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    return startAdmin({ ...served, port: 0 });
  });
  const ended = new Promise<void>((resolve, reject) => {
    const close = () => void admin.close().then(resolve, reject);
    if (signal.aborted) close();
    else signal.addEventListener("abort", close, { once: true });
  });
  return { port: admin.port, ended };
}

function pagesOf({ server, traffic, ask }: DemoAdminOptions["demo"]): NonNullable<AdminOptions["pages"]> {
  const clustersIn = (query: URLSearchParams) => {
    const only = query.get("cluster");
    return [...server.store.clusters.keys()].filter((name) => only === null || name === only);
  };

  async function accessLogsOf(cluster: string, query: URLSearchParams): Promise<object> {
    try {
      const body = new TextEncoder().encode(JSON.stringify(accessLogQueryIn(query)));
      return { ...parseAccessLogAnswer(await ask(cluster, { topic: ACCESS_LOGS_TOPIC, body })), cluster };
    } catch (error) {
      return { cluster, problem: messageOf(error) };
    }
  }

  return {
    "/certificates": listPage(() => server.certificates({ hasForecasts: true })),
    "/traffic": (query) => {
      const minutes = minutesIn(query);
      return listPage(() => clustersIn(query).map((cluster) => trafficOf(cluster, minutes)))(query);
    },
    "/access-logs": async (query) => {
      const items = await Promise.all(clustersIn(query).map((cluster) => accessLogsOf(cluster, query)));
      return listPage(() => items)(query);
    },
  };

  function trafficOf(cluster: string, minutes: number): object {
    const known = traffic.traffic.of(cluster, minutes, systemClock.now());
    return known === undefined ? { cluster, problem: "its agent has not answered yet" } : clusterReport(cluster, known);
  }
}

function minutesIn(query: URLSearchParams): number {
  const minutes = Number(query.get("minutes") ?? "5");
  if (Number.isInteger(minutes) && minutes >= 1 && minutes <= 60) return minutes;
  throw new TypeError(`minutes: ${query.get("minutes")} is not a number from 1 to 60`);
}
