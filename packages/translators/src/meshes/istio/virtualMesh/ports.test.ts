import { describe, expect, it } from "vitest";
import { federatedPorts } from "./ports.ts";

describe("a federated port", () => {
  it("without a name is named after its transport, and has no protocol where Istio detects it", () => {
    expect(federatedPorts([{ port: 11, protocol: "TCP" }]).ports).toEqual([{ number: 11, name: "TCP" }]);
  });

  it("is none over UDP, and one for each number and name", () => {
    const udp = { port: 53, name: "dns", protocol: "UDP" };
    const { ports, omitted } = federatedPorts([udp, { port: 53, name: "dns-tcp", protocol: "TCP" }, { port: 54, name: "dns-tcp" }]);
    expect(ports).toEqual([{ number: 53, protocol: "TCP", name: "dns-tcp" }]);
    expect(omitted.map(({ port, reason }) => [port.port, port.protocol, reason])).toEqual([
      [53, "UDP", "gateways do not forward UDP"],
      [54, undefined, "Istio allows each port name once"],
    ]);
  });

  it("is none of a transport that Istio does not support", () => {
    const sctp = { port: 1, name: "s", protocol: "SCTP" };
    expect(federatedPorts([sctp, { port: 2, name: "http", protocol: "TCP" }])).toEqual({
      ports: [{ number: 2, protocol: "HTTP", name: "http" }],
      omitted: [{ port: sctp, reason: "Istio does not support SCTP" }],
    });
  });
});
