import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { startProgram } from "./childProcess.ts";
import { freePorts } from "./freePorts.ts";
import { waitFor } from "./waitFor.ts";

export interface LoggingEnvoyOptions {
  /** The program. */
  readonly envoy: string;
  readonly directory: string;
  /** Of the agent that it sends its log to, on loopback. */
  readonly sinkPort: number;
  /** Of namespace bookinfo, whose sidecar it is. */
  readonly pod: string;
  /** HTTP filters before the router's. Default: none. */
  readonly httpFilters?: readonly object[];
}

/** A real Envoy with the access log that an AccessLogRecord configures, as a sidecar named by its node id. */
export interface LoggingEnvoy {
  /** Where it answers requests. */
  readonly url: string;
  /** Gives the codes of so many requests: 404 for /missing, 503 for /nobody, else 200. */
  request(path: string, count: number): Promise<readonly number[]>;
  stop(): Promise<void>;
}

interface Ports {
  readonly proxyPort: number;
  readonly admin: number;
}

/** Starts one, and waits until it answers. */
export async function startLoggingEnvoy({ envoy, directory, ...options }: LoggingEnvoyOptions): Promise<LoggingEnvoy> {
  const [proxyPort = 0, admin = 0] = await freePorts(2);
  const config = join(directory, `envoy-${options.pod}.yaml`);
  writeFileSync(config, stringify(bootstrap({ ...options, proxyPort, admin })));
  const args = ["-c", config, "--concurrency", "1", "--disable-hot-restart", "--log-level", "warn"];
  const proxy = startProgram({ name: `envoy-${options.pod}`, command: envoy, args, log: join(directory, `envoy-${options.pod}.log`) });
  const url = `http://127.0.0.1:${proxyPort}`;
  async function request(path: string, count: number): Promise<readonly number[]> {
    const codes: number[] = [];
    for (let i = 0; i < count; i++) {
      const response = await fetch(`${url}${path}`, {
        headers: { "x-debug": String(i), authorization: "Bearer s3cret" },
      });
      await response.arrayBuffer();
      codes.push(response.status);
    }
    return codes;
  }
  await waitFor("Envoy to answer", async () => (await request("/ready", 1))[0] === 200);
  return { url, request, stop: () => proxy.stop() };
}

const EXTENSIONS = "type.googleapis.com/envoy.extensions";

function bootstrap({
  sinkPort,
  pod,
  httpFilters = [],
  proxyPort,
  admin,
}: Ports & Omit<LoggingEnvoyOptions, "envoy" | "directory">): object {
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
      id: `sidecar~10.0.0.7~${pod}.bookinfo~bookinfo.svc.cluster.local`,
      cluster: "reviews.bookinfo",
      metadata: { NAME: pod, NAMESPACE: "bookinfo", WORKLOAD_NAME: "reviews-v1", CLUSTER_ID: "cluster-1" },
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
                      ...httpFilters,
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
