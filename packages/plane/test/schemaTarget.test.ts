import { EndpointSlice, Service } from "@isthmus/api";
import { describe, expect, it } from "vitest";
import { SchemaProblem } from "../src/agent/schemas/openApiDocument.ts";
import { readableAddress } from "../src/agent/schemas/schemaTarget.ts";

function service(spec: object = {}): Service {
  return Service.parse({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "reviews", namespace: "shop" },
    spec: {
      clusterIP: "10.96.0.7",
      selector: { app: "reviews" },
      ports: [
        { name: "http", port: 9080 },
        { name: "dns", port: 53, protocol: "UDP" },
      ],
      ...spec,
    },
  });
}

function slice(address: string, ready = true, kind = "Pod"): EndpointSlice {
  return EndpointSlice.parse({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "reviews-1", namespace: "shop" },
    endpoints: [{ addresses: [address], conditions: { ready }, targetRef: { kind, name: "reviews-1" } }],
    ports: [{ name: "http", port: 8080 }],
  });
}

function targetOf(source: string, of = service(), slices: readonly EndpointSlice[] = []): string {
  try {
    const { url, address } = readableAddress(of, slices, source);
    return `${url} at ${address}`;
  } catch (error) {
    if (error instanceof SchemaProblem) return error.reason;
    throw error;
  }
}

describe("readableAddress", () => {
  it("calls the address of the Service, whatever its name in the URL", () => {
    expect(targetOf("/openapi.json?v=3")).toBe("http://reviews.shop.svc:9080/openapi.json?v=3 at 10.96.0.7:9080");
    for (const host of ["reviews", "reviews.shop", "reviews.shop.svc", "reviews.shop.svc.example.internal"])
      expect(targetOf(`http://${host}:9080/a`)).toBe(`http://${host}:9080/a at 10.96.0.7:9080`);
  });

  it("calls a port by https where the Service says so, by its appProtocol or else its name, and where the URL does", () => {
    const port = (more: object) => service({ ports: [{ port: 9443, ...more }] });
    expect(targetOf("/a", port({ name: "https" }))).toBe("https://reviews.shop.svc:9443/a at 10.96.0.7:9443");
    expect(targetOf("/a", port({ name: "https-api" }))).toBe("https://reviews.shop.svc:9443/a at 10.96.0.7:9443");
    expect(targetOf("/a", port({ name: "api", appProtocol: "HTTPS" }))).toBe("https://reviews.shop.svc:9443/a at 10.96.0.7:9443");
    expect(targetOf("/a", port({ name: "https", appProtocol: "http" }))).toBe("http://reviews.shop.svc:9443/a at 10.96.0.7:9443");
    expect(targetOf("/a", port({ name: "httpsx" }))).toBe("http://reviews.shop.svc:9443/a at 10.96.0.7:9443");
    expect(targetOf("https://reviews.shop:9443/a", port({ name: "api" }))).toBe("https://reviews.shop:9443/a at 10.96.0.7:9443");
    expect(targetOf("https://reviews/a", service({ ports: [{ port: 443 }] }))).toBe("https://reviews/a at 10.96.0.7:443");
    expect(targetOf("https://reviews/a", port({}))).toBe("Refused");
  });

  it("calls a ready pod where the Service has no address", () => {
    const headless = service({ clusterIP: "None" });
    expect(targetOf("/a", headless, [slice("10.1.0.9")])).toBe("http://reviews.shop.svc:9080/a at 10.1.0.9:8080");
    expect(targetOf("/a", headless, [slice("fd12::9")])).toBe("http://reviews.shop.svc:9080/a at [fd12::9]:8080");
    expect(targetOf("/a", headless, [slice("10.1.0.9", false)])).toBe("NotReady");
    expect(targetOf("/a", headless, [slice("10.1.0.9", true, "Node")])).toBe("Refused");
  });

  it.each([
    "10.96.0.09",
    "10.96.100.033",
    "010.96.0.7",
    "0x0a.96.0.7",
    "10.96.7",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "2002::1",
    "::ffff:10.96.0.7",
  ])("does not call %s, which is no address, or another one to other programs", (clusterIP) => {
    expect(targetOf("/a", service({ clusterIP }))).toBe("Refused");
    expect(targetOf("/a", service({ clusterIP: "None" }), [slice(clusterIP)])).toBe("Refused");
  });

  it.each([
    ["169.254.169.254", "Pod"],
    ["127.0.0.1", "Pod"],
    ["100.100.100.200", "Pod"],
    ["10.1.0.9", "Node"],
  ])("does not call the address of a Service that leads to %s of a %s too", (address, kind) => {
    expect(targetOf("/a", service(), [slice("10.1.0.8"), slice(address, true, kind)])).toBe("Refused");
    expect(targetOf("/a", service(), [slice("10.1.0.8"), slice(address, false, kind)])).toBe(
      "http://reviews.shop.svc:9080/a at 10.96.0.7:9080",
    );
  });

  it.each([
    "http://169.254.169.254/latest/meta-data",
    "http://localhost:9080/",
    "http://ratings.shop:9080/",
    "http://reviews.payments:9080/",
    "http://reviews.shop.example.com:9080/",
    "http://reviews:53/",
    "http://reviews/",
    "http://user:secret@reviews:9080/",
    "http://reviews@169.254.169.254:9080/",
    "https://ratings:9080/",
    "https://reviews/",
    "https://user:secret@reviews:9080/",
    "wss://reviews:9080/",
    "file:///etc/passwd",
    "gopher://reviews:9080/",
    "//169.254.169.254/",
    "openapi.json",
    "",
    `/${"a".repeat(3_000)}`,
  ])("refuses %s", (source) => {
    expect(targetOf(source)).toBe("Refused");
  });

  it.each([
    "127.0.0.1",
    "0.0.0.0",
    "169.254.169.254",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "ff02::1",
    "::ffff:7f00:1",
    "fd00:ec2::254",
    "metadata",
  ])("never calls %s", (address) => {
    expect(targetOf("/a", service({ clusterIP: address }))).toBe("Refused");
    expect(targetOf("/a", service({ clusterIP: "None" }), [slice(address)])).toBe("Refused");
  });

  it("refuses Services whose endpoints anybody may choose, or that have none of their own", () => {
    expect(targetOf("/a", service({ selector: {} }))).toBe("Refused");
    expect(targetOf("/a", service({ type: "ExternalName", externalName: "metadata.example.com" }))).toBe("Refused");
    expect(targetOf("/a", service({ ports: [] }))).toBe("Refused");
  });
});
