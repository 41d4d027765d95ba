import { describe, expect, it } from "vitest";
import { type PortHints, portFamily, portProtocol } from "./portProtocol.ts";

describe("the protocol of a port", () => {
  it.each<readonly [PortHints, string | undefined, string | undefined]>([
    [{ name: "http1", protocol: "TCP" }, "", "detected"],
    [{ name: "web", protocol: "TCP" }, "", "detected"],
    [{ name: "api-http" }, "", "detected"],
    [{ name: "httpbin-x" }, "", "detected"],
    [{ name: "http-web", protocol: "TCP" }, "HTTP", "HTTP"],
    [{ name: "x", appProtocol: "grpc", protocol: "TCP" }, "GRPC", "HTTP"],
    [{ name: "http", appProtocol: "my-own", protocol: "TCP" }, "", "detected"],
    [{ name: "p", appProtocol: "HTTPS" }, "HTTPS", "TLS"],
    [{ name: "tls-x" }, "TLS", "TLS"],
    [{ name: "grpc-web-x", protocol: "TCP" }, "GRPC-Web", "HTTP"],
    [{ name: "GRPC-Upper", protocol: "TCP" }, "GRPC", "HTTP"],
    [{ name: "http", protocol: "UDP" }, "UDP", "UDP"],
    // Istio believes the name.
    [{ name: "udp-x", protocol: "TCP" }, "UDP", "UDP"],
    [{ name: "http_proxy", protocol: "TCP" }, "HTTP_PROXY", "HTTP"],
    [{ name: "mysql-1", protocol: "TCP" }, "MySQL", "TCP"],
    [{ name: "redis", port: 6379 }, "Redis", "TCP"],
    // Istio dropped Thrift.
    [{ name: "thrift", protocol: "TCP" }, "", "detected"],
    [{ name: "p", appProtocol: "kubernetes.io/h2c", protocol: "TCP" }, "HTTP2", "HTTP"],
    [{ name: "p", appProtocol: "kubernetes.io/ws" }, "HTTP", "HTTP"],
    [{ name: "p", appProtocol: "kubernetes.io/wss" }, "HTTPS", "TLS"],
    [{ name: "p", appProtocol: "kubernetes.io/WS" }, "", "detected"],
    [{}, "", "detected"],
    ...[25, 53, 3306, 27017].map((port) => [{ name: "db", port }, "TCP", "TCP"] as const),
    [{ port: 3306, name: "x", appProtocol: "example.com/y" }, "TCP", "TCP"],
    [{ port: 3306, name: "http-admin" }, "HTTP", "HTTP"],
    [{ name: "sctp", protocol: "SCTP" }, undefined, undefined],
    [{ name: "http", protocol: "SCTP" }, undefined, undefined],
  ])("%o is %j", (port, protocol, family) => {
    expect([portProtocol(port), portFamily(port)]).toEqual([protocol, family]);
  });
});
