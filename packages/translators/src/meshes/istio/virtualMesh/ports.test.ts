import { describe, expect, it } from "vitest";
import { federatedPorts, portProtocol } from "./ports.ts";

describe("the protocol of a port", () => {
  it.each([
    [{ name: "http1", protocol: "TCP" }, "TCP"],
    [{ name: "http-web", protocol: "TCP" }, "HTTP"],
    [{ name: "x", appProtocol: "grpc", protocol: "TCP" }, "GRPC"],
    [{ name: "grpc-web-x", protocol: "TCP" }, "GRPC-Web"],
    [{ name: "GRPC-Upper", protocol: "TCP" }, "GRPC"],
    [{ name: "db", port: 3306, protocol: "TCP" }, "TCP"],
    [{ name: "http", protocol: "UDP" }, "UDP"],
    [{ name: "http_proxy", protocol: "TCP" }, "HTTP_PROXY"],
    [{ name: "mysql-1", protocol: "TCP" }, "MySQL"],
    // Istio dropped Thrift; the bytes still pass.
    [{ name: "thrift", protocol: "TCP" }, "TCP"],
    [{ name: "p", appProtocol: "kubernetes.io/h2c", protocol: "TCP" }, "TCP"],
    [{}, "TCP"],
    [{ name: "sctp", protocol: "SCTP" }, undefined],
  ])("%o is %s", (port, protocol) => {
    expect(portProtocol(port)).toBe(protocol);
  });

  it("of an unnamed port is its name, too", () => {
    expect(federatedPorts([{ port: 11, protocol: "TCP" }]).ports).toEqual([{ number: 11, protocol: "TCP", name: "TCP" }]);
  });

  it("over UDP gives way to the one over TCP of the same number, as DNS has it", () => {
    const udp = { port: 53, name: "dns", protocol: "UDP" };
    const { ports, omitted } = federatedPorts([udp, { port: 53, name: "dns-tcp", protocol: "TCP" }, { port: 54, name: "dns-tcp" }]);
    expect(ports).toEqual([{ number: 53, protocol: "TCP", name: "dns-tcp" }]);
    expect(omitted.map(({ port, reason }) => [port.port, port.protocol, reason])).toEqual([
      [53, "UDP", "gateways do not forward UDP"],
      [54, undefined, "Istio allows each port name once"],
    ]);
  });

  it("that Istio does not support leaves the port out", () => {
    const sctp = { port: 1, name: "s", protocol: "SCTP" };
    expect(federatedPorts([sctp, { port: 2, name: "http", protocol: "TCP" }])).toEqual({
      ports: [{ number: 2, protocol: "HTTP", name: "http" }],
      omitted: [{ port: sctp, reason: "Istio does not support SCTP" }],
    });
  });
});
