import { expositionParser, PROXY_METRICS, proxySignals } from "@isthmus/dataplane";
import { hostileText, KEYS } from "../drawing/hostile.ts";
import { OthersHarmed, type Target } from "../target.ts";

const LINES = [
  'istio_requests_total{reporter="source",source_workload="a",destination_service_name="b",response_code="200"} 7',
  'istio_requests_total{reporter="destination",source_workload="a",response_code="200",grpc_response_status="14"} 1e3 1700000000',
  'istio_request_duration_milliseconds_bucket{reporter="source",destination_service_name="b",le="0.5"} 3',
  'istio_request_duration_milliseconds_bucket{reporter="source",destination_service_name="b",le="+Inf"} 9',
  'envoy_cluster_upstream_rq_xx{envoy_response_code_class="2",envoy_cluster_name="outbound|9080||b.c.svc.cluster.local"} 4',
  "# TYPE istio_requests_total counter",
];
const PARTS = [
  "{",
  "}",
  '"',
  "\\",
  "\\n",
  ",",
  "=",
  " ",
  "\n",
  "\r",
  "\u0000",
  "NaN",
  "-Inf",
  "1e999",
  "|",
  "#",
  "\ud800",
  "x".repeat(20_000),
];
const MOST_EDGES = 20;

/** What pods expose as the metrics of a proxy, to the agent of their cluster: any pod may answer anything. */
export const exposition: Target = {
  name: "exposition",
  about: "text in Prometheus' format, of which an agent makes the traffic of a proxy",
  draw(random) {
    const lines = Array.from({ length: 1 + random.int(30) }, () => {
      let line = LINES[random.int(LINES.length)] ?? "";
      for (let i = random.int(4); i > 0; i--) {
        const at = random.int(line.length + 1);
        const part = random.int(3) === 0 ? hostileText(random) : (PARTS[random.int(PARTS.length)] ?? KEYS[0] ?? "");
        line = line.slice(0, at) + part + line.slice(at + random.int(10));
      }
      return line;
    });
    return Buffer.from(`${lines.join("\n")}\n`);
  },
  async start() {
    return {
      take(input) {
        const reduction = proxySignals({ namespace: "n", workload: "w" }, MOST_EDGES);
        const parser = expositionParser(PROXY_METRICS, reduction.take, { bytes: 1024 * 1024, samples: 1_000 });
        for (let at = 0; at < input.length; at += 1_000) if (!parser.write(input.subarray(at, at + 1_000))) break;
        parser.end();
        const { sent, received } = reduction.traffic();
        const isOwn = [...sent.values()].every(({ edge }) => edge.sourceNamespace === "n" && edge.sourceWorkload === "w");
        const areCounts = [...sent.values(), ...received.values()].every(({ signals }) =>
          signals.every((count) => count >= 0 && Number.isFinite(count)),
        );
        if (!isOwn || !areCounts || sent.size > MOST_EDGES || received.size > MOST_EDGES)
          throw new OthersHarmed("a proxy reported what is not its own, or more than it may");
      },
      stop: async () => undefined,
    };
  },
};
