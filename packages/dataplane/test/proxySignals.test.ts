import { CODE_CLASSES, DURATION_BOUNDS, federatedDomain, hostOfService, SIGNAL_AT } from "@isthmus/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expositionParser } from "../src/exposition.ts";
import { type EdgeSignals, PROXY_METRICS, proxySignals } from "../src/proxySignals.ts";

const OWNER = { namespace: "shop", workload: "web" };
const LIMITS = { bytes: 10_000_000, samples: 100_000 };

function trafficOf(text: string, mostEdges = 100) {
  const reduction = proxySignals(OWNER, mostEdges);
  const parser = expositionParser(PROXY_METRICS, reduction.take, LIMITS);
  parser.write(new TextEncoder().encode(text));
  parser.end();
  const { sent, received, refused } = reduction.traffic();
  return { sent: [...sent.values()], received: [...received.values()], refused };
}

const ENDS =
  'source_workload="web",source_workload_namespace="shop",source_cluster="c1",destination_service_name="reviews",' +
  'destination_service_namespace="books",destination_workload="reviews-v1",destination_workload_namespace="books",destination_cluster="c1"';
const line = (metric: string, value: number, more = "", ends = ENDS) => `${metric}{reporter="source",${ends}${more}} ${value}\n`;
const codes = (row: EdgeSignals | undefined) => [...(row?.signals.subarray(SIGNAL_AT.codes, SIGNAL_AT.codes + CODE_CLASSES.length) ?? [])];
const buckets = (row: EdgeSignals | undefined) => [
  ...(row?.signals.subarray(SIGNAL_AT.buckets, SIGNAL_AT.buckets + DURATION_BOUNDS.length + 1) ?? []),
];

describe("what a proxy counted", () => {
  it("is summed by workload, destination and class of the code", () => {
    const text =
      line("istio_requests_total", 90, ',response_code="200",connection_security_policy="mutual_tls"') +
      line("istio_requests_total", 5, ',response_code="200",connection_security_policy="none"') +
      line("istio_requests_total", 3, ',response_code="503"') +
      line("istio_requests_total", 2, ',response_code="0"') +
      line("istio_requests_total", 1, ',response_code="101"') +
      line("istio_request_bytes_sum", 1000) +
      line("istio_tcp_received_bytes_total", 24) +
      line("istio_response_bytes_sum", 5000);
    const { sent, received } = trafficOf(text);
    expect(received).toEqual([]);
    expect(sent.map(({ edge }) => edge)).toEqual([
      { sourceNamespace: "shop", sourceWorkload: "web", namespace: "books", service: "reviews", workload: "reviews-v1", cluster: "" },
    ]);
    expect(codes(sent[0])).toEqual([2, 1, 95, 0, 0, 3]);
    expect([sent[0]?.signals[SIGNAL_AT.requestBytes], sent[0]?.signals[SIGNAL_AT.responseBytes]]).toEqual([1024, 5000]);
  });

  it("counts a gRPC call by its status: the server's faults are 5xx, the caller's 4xx", () => {
    const of = (status: string) => line("istio_requests_total", 1, `,response_code="200",grpc_response_status="${status}"`);
    expect(codes(trafficOf(["0", "14", "4", "5", "16"].map(of).join("")).sent[0])).toEqual([0, 0, 1, 0, 2, 2]);
  });

  it("has each request in one bucket of durations, however a proxy divides them", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 40 }),
        fc.uniqueArray(fc.integer({ min: 1, max: 9_000 })),
        (times, own) => {
          const bounds = own.sort((a, b) => a - b);
          const series = ["200", "503"].map((code, part) => {
            const some = times.filter((_, i) => i % 2 === part);
            const rows = bounds.map((le) => [String(le), some.filter((ms) => ms <= le).length] as const);
            return [...rows, ["+Inf", some.length] as const]
              .map(([le, count]) => line("istio_request_duration_milliseconds_bucket", count, `,response_code="${code}",le="${le}"`))
              .join("");
          });
          const found = buckets(trafficOf(series.join("")).sent[0]);
          expect(found.reduce((sum, count) => sum + count, 0)).toBe(times.length);
          // Never in a bucket below its own.
          DURATION_BOUNDS.forEach((bound, at) => {
            const below = found.slice(0, at + 1).reduce((sum, count) => sum + count, 0);
            expect(below).toBeLessThanOrEqual(times.filter((ms) => ms <= bound).length);
          });
        },
      ),
      { numRuns: 50 },
    );
  });

  it("is about the pod's own workload, whatever it says", () => {
    const lie = ENDS.replace(
      'source_workload="web",source_workload_namespace="shop"',
      'source_workload="bank",source_workload_namespace="money"',
    );
    expect(trafficOf(line("istio_requests_total", 1, ',response_code="500"', lie)).sent[0]?.edge).toMatchObject({
      sourceNamespace: "shop",
      sourceWorkload: "web",
    });
    const received = line("istio_requests_total", 1, ',response_code="500"', lie).replace('"source"', '"destination"');
    expect(trafficOf(received).received[0]?.edge).toMatchObject({ sourceWorkload: "bank", namespace: "shop", workload: "web" });
  });

  it("names the cluster of a destination elsewhere, and leaves to its agent what was received from there", () => {
    const elsewhere = ENDS.replace('destination_cluster="c1"', 'destination_cluster="c2"');
    expect(trafficOf(line("istio_requests_total", 1, ',response_code="200"', elsewhere)).sent[0]?.edge.cluster).toBe("c2");
    expect(trafficOf(line("istio_requests_total", 1, "", elsewhere).replace('"source"', '"destination"')).received).toEqual([]);
    expect(trafficOf(line("istio_requests_total", 1, "", ENDS).replace('"source"', '"waypoint"'))).toEqual({
      sent: [],
      received: [],
      refused: 0,
    });
  });

  it("is that of Envoy's clusters where Istio's metrics are not there, and only there", () => {
    const name = "outbound|9080||reviews.books.svc.cluster.local";
    const envoy =
      `envoy_cluster_upstream_rq_xx{envoy_response_code_class="2",envoy_cluster_name="${name}"} 7\n` +
      `envoy_cluster_upstream_rq{envoy_response_code="200",envoy_cluster_name="${name}"} 7\n` +
      `envoy_cluster_upstream_rq{response_code_class="5xx",cluster_name="${name}"} 3\n` +
      `envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name="${name}",le="1"} 4\n` +
      `envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name="${name}",le="+Inf"} 10\n` +
      `envoy_cluster_upstream_rq_xx{envoy_response_code_class="2",envoy_cluster_name="outbound|443||api.example.com"} 1\n` +
      `envoy_cluster_upstream_rq_xx{envoy_response_code_class="2",envoy_cluster_name="inbound|9080||"} 99\n`;
    const { sent } = trafficOf(envoy);
    expect(sent.map(({ edge }) => [edge.namespace, edge.service])).toEqual([
      ["books", "reviews"],
      ["", "api.example.com"],
    ]);
    expect(codes(sent[0])).toEqual([0, 0, 7, 0, 0, 3]);
    expect(buckets(sent[0])).toEqual([4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6]);
    expect(trafficOf(envoy + line("istio_requests_total", 1, ',response_code="200"')).sent.map(({ edge }) => edge.service)).toEqual([
      "reviews",
    ]);
  });

  it("is that of the cluster that a federated host means, and of no cluster where a host does not say which", () => {
    const edgeTo = (host: string) => {
      const text = `envoy_cluster_upstream_rq_xx{envoy_response_code_class="2",envoy_cluster_name="outbound|9080||${host}"} 1\n`;
      const { namespace, service, cluster } = trafficOf(text).sent[0]?.edge ?? expect.fail(host);
      return [namespace, service, cluster];
    };
    const federated = hostOfService({ name: "reviews", namespace: "books" }, federatedDomain("c2", undefined));
    expect(federated).toBe("reviews.books.svc.c2.global");
    expect(edgeTo(federated)).toEqual(["books", "reviews", "c2"]);
    for (const own of ["reviews.books.svc.cluster.local", "reviews.books.svc"]) expect(edgeTo(own)).toEqual(["books", "reviews", ""]);
    const unknown = [
      // A cluster with a domain of its own, or a cluster and the suffix of a VirtualMesh: only who knows the fleet can tell.
      "reviews.books.svc.c2.corp",
      "reviews.books.svc.example.com",
      "reviews.books.svc.a.b.global",
      "reviews.books.svc.C2.global",
      "reviews.books.svc.global",
      "reviews.books.svc..global",
      // VirtualDestinations, and what is outside.
      "reviews.mesh.global",
      "reviews.books.failover.global",
      "api.example.com",
    ];
    for (const host of unknown) expect(edgeTo(host)).toEqual(["", host, ""]);
  });

  it("is bounded, and refuses what is no name and what no counter has", () => {
    const many = Array.from({ length: 50 }, (_, i) =>
      line("istio_requests_total", 1, ',response_code="200"', ENDS.replace("reviews", `r${i}`)),
    );
    expect(trafficOf(many.join(""), 10)).toMatchObject({ sent: { length: 10 }, refused: 40 });
    const odd = ["\\n", "\u001b[2J", "a b", "x".repeat(300)].map((text) =>
      line("istio_requests_total", 1, "", ENDS.replace("reviews", text)),
    );
    expect(trafficOf(odd.join(""))).toEqual({ sent: [], received: [], refused: 4 });
    for (const value of [-1, Number.POSITIVE_INFINITY, 1e300]) expect(trafficOf(line("istio_requests_total", value)).sent).toEqual([]);
  });
});
