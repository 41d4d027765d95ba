import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AccessLogSink, type PodsAt, startAccessLogSink } from "@isthmus/dataplane";
import { systemClock } from "@isthmus/plane";
import { afterAll, beforeAll, expect, it } from "vitest";
import { stringify } from "yaml";
import { type Program, startProgram } from "./harness/childProcess.ts";
import { describeReal } from "./harness/describeReal.ts";
import { freePorts } from "./harness/freePorts.ts";
import { waitFor } from "./harness/waitFor.ts";

// A real Envoy with the access log that an AccessLogRecord configures, as a sidecar named by its node id, and the sink of an agent.
describeReal("a real Envoy's access log", ({ envoy }) => {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-real-access-logs-"));
  let sinkPort = 0;
  let proxyPort = 0;
  let proxy: Program | undefined;
  let running: { readonly sink: AccessLogSink; stop(): Promise<void> } | undefined;

  async function startSink(): Promise<void> {
    const stopped = new AbortController();
    const sink = startAccessLogSink({ host: "127.0.0.1", port: sinkPort, podsAt, clock: systemClock, log: silent }, stopped.signal);
    await sink.listening;
    running = {
      sink,
      async stop() {
        stopped.abort(new Error("the sink is killed"));
        await sink.ended;
      },
    };
  }

  /** Gives the codes of so many requests. */
  async function request(path: string, count: number): Promise<readonly number[]> {
    const codes: number[] = [];
    for (let i = 0; i < count; i++) {
      const response = await fetch(`http://127.0.0.1:${proxyPort}${path}`, {
        headers: { "x-debug": String(i), authorization: "Bearer s3cret" },
      });
      await response.arrayBuffer();
      codes.push(response.status);
    }
    return codes;
  }

  const logged = (path: string) => (running?.sink.query({ limit: 500 }).entries ?? []).filter((entry) => entry.path === path);

  beforeAll(async () => {
    const [one = 0, two = 0, admin = 0] = await freePorts(3);
    [sinkPort, proxyPort] = [one, two];
    await startSink();
    const config = join(directory, "envoy.yaml");
    writeFileSync(config, stringify(bootstrap({ sinkPort, proxyPort, admin })));
    const args = ["-c", config, "--concurrency", "1", "--disable-hot-restart", "--log-level", "warn"];
    proxy = startProgram({ name: "envoy", command: envoy, args, log: join(directory, "envoy.log") });
    await waitFor("Envoy to answer", async () => (await request("/ready", 1))[0] === 200);
  });

  afterAll(async () => {
    await proxy?.stop();
    await running?.stop();
  });

  it("arrives: 20 requests are 20 entries, with their codes, their workload and no secrets", async () => {
    expect(new Set(await request("/fine", 12))).toEqual(new Set([200]));
    expect(new Set(await request("/missing", 8))).toEqual(new Set([404]));
    const fine = await waitFor("12 entries", () => logged("/fine").length >= 12 && logged("/fine"));
    const missing = await waitFor("8 entries", () => logged("/missing").length >= 8 && logged("/missing"));
    expect([fine.length, missing.length]).toEqual([12, 8]);
    expect(fine.every(({ status, method }) => status === 200 && method === "GET")).toBe(true);
    expect(missing.every(({ status }) => status === 404)).toBe(true);
    expect(fine[0]).toMatchObject({
      proxy: { namespace: "bookinfo", workloadName: "reviews-v1", podName: "reviews-v1-abc" },
      verified: true,
    });
    expect(fine.map(({ requestHeaders }) => requestHeaders?.["x-debug"]).sort()).toEqual(
      Array.from({ length: 12 }, (_, i) => String(i)).sort(),
    );
    expect(JSON.stringify(fine)).not.toContain("s3cret");
    expect(fine[0]?.requestHeaders?.["authorization"]).toBe("(masked)");
  });

  it("explains in words why a request failed", async () => {
    expect(await request("/nobody", 1)).toEqual([503]);
    const [entry] = await waitFor("the entry", () => logged("/nobody").length > 0 && logged("/nobody"));
    expect(entry?.flags).toContainEqual({ code: "UF", meaning: expect.stringContaining("no connection to the service") as string });
  });

  it("holds nothing up while the sink is offline, and arrives again when it is back", async () => {
    await running?.stop();
    expect(new Set(await request("/away", 20))).toEqual(new Set([200]));
    await startSink();
    // A connection that was open must be gone: no proxy continues sending to what nobody reads.
    await waitFor("entries to arrive again", async () => {
      await request("/back", 1);
      return logged("/back").length > 0;
    });
  });
});

const podsAt: PodsAt = (address) =>
  address === "127.0.0.1" ? [{ namespace: "bookinfo", name: "reviews-v1-abc", workloadName: "reviews-v1" }] : [];

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

const EXTENSIONS = "type.googleapis.com/envoy.extensions";

function bootstrap({
  sinkPort,
  proxyPort,
  admin,
}: {
  readonly sinkPort: number;
  readonly proxyPort: number;
  readonly admin: number;
}): object {
  const at = (port: number) => ({ socket_address: { address: "127.0.0.1", port_value: port } });
  const cluster = (name: string, port: number) => ({
    name,
    type: "STRICT_DNS",
    connect_timeout: "1s",
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address: at(port) } }] }] },
  });
  const http2 = { "@type": `${EXTENSIONS}.upstreams.http.v3.HttpProtocolOptions`, explicit_http_config: { http2_protocol_options: {} } };
  const answer = (path: string, status: number) => ({ match: { path }, direct_response: { status, body: { inline_string: "x" } } });
  return {
    node: {
      id: "sidecar~10.0.0.7~reviews-v1-abc.bookinfo~bookinfo.svc.cluster.local",
      cluster: "reviews.bookinfo",
      metadata: { NAME: "reviews-v1-abc", NAMESPACE: "bookinfo", WORKLOAD_NAME: "reviews-v1", CLUSTER_ID: "cluster-1" },
    },
    admin: { address: at(admin) },
    static_resources: {
      clusters: [
        {
          ...cluster("gloo-mesh-agent", sinkPort),
          typed_extension_protocol_options: { "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": http2 },
        },
        // Nothing listens there.
        cluster("outbound|9080||nobody.bookinfo.svc.cluster.local", 1),
      ],
      listeners: [
        {
          name: "inbound",
          address: at(proxyPort),
          filter_chains: [
            {
              filters: [
                {
                  name: "envoy.filters.network.http_connection_manager",
                  typed_config: {
                    "@type": `${EXTENSIONS}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
                    stat_prefix: "inbound",
                    access_log: [
                      {
                        name: "envoy.access_loggers.http_grpc",
                        typed_config: {
                          "@type": `${EXTENSIONS}.access_loggers.grpc.v3.HttpGrpcAccessLogConfig`,
                          common_config: {
                            log_name: "accesslog.all.gloo-mesh",
                            transport_api_version: "V3",
                            buffer_flush_interval: "0.2s",
                            buffer_size_bytes: 16384,
                            grpc_service: { envoy_grpc: { cluster_name: "gloo-mesh-agent" }, timeout: "5s" },
                          },
                          additional_request_headers_to_log: ["x-debug", "authorization"],
                        },
                      },
                    ],
                    http_filters: [
                      { name: "envoy.filters.http.router", typed_config: { "@type": `${EXTENSIONS}.filters.http.router.v3.Router` } },
                    ],
                    route_config: {
                      virtual_hosts: [
                        {
                          name: "all",
                          domains: ["*"],
                          routes: [
                            answer("/missing", 404),
                            { match: { path: "/nobody" }, route: { cluster: "outbound|9080||nobody.bookinfo.svc.cluster.local" } },
                            { match: { prefix: "/" }, direct_response: { status: 200, body: { inline_string: "x" } } },
                          ],
                        },
                      ],
                    },
                  },
                },
              ],
            },
          ],
        },
      ],
    },
  };
}
