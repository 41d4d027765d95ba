import type { AnyResource } from "@isthmus/core";
import { describe, expect, test } from "vitest";
import { compareObjects } from "./compare.ts";

function object(kind: string, content: object, metadata: object = {}): AnyResource {
  const group = kind === "Mesh" || kind === "Destination" ? "discovery.mesh.gloo.solo.io" : "networking.istio.io";
  return { apiVersion: `${group}/v1`, kind, metadata: { name: "a", namespace: "b", clusterName: "c", ...metadata }, ...content };
}

function paths(expected: readonly AnyResource[], actual: readonly AnyResource[]): readonly string[] {
  return compareObjects(expected, actual).map(({ path }) => path);
}

describe("objects differ", () => {
  test("by a field, a list's length, an order", () => {
    const expected = object("ServiceEntry", { spec: { hosts: ["x", "y"], ports: [{ number: 1 }] } });
    const actual = object("ServiceEntry", { spec: { hosts: ["y", "x"], ports: [{ number: 1 }, { number: 2 }], resolution: "DNS" } });
    expect(paths([expected], [actual])).toEqual([
      "ServiceEntry a.b in c: spec.hosts[0]",
      "ServiceEntry a.b in c: spec.hosts[1]",
      "ServiceEntry a.b in c: spec.ports[1]",
      "ServiceEntry a.b in c: spec.resolution",
    ]);
  });

  test("by being there", () => {
    const one = object("ServiceEntry", { spec: {} });
    const other = object("ServiceEntry", { spec: {} }, { clusterName: "d" });
    expect(paths([one], [other])).toEqual(["ServiceEntry a.b in c", "ServiceEntry a.b in d"]);
  });

  test("by group", () => {
    const one = object("Gateway", { spec: { selector: { a: "b" } } });
    expect(paths([one], [{ ...one, apiVersion: "gateway.networking.k8s.io/v1" }])).toEqual(["Gateway a.b in c: group"]);
  });

  test("by errors that are there or not", () => {
    const status = (errors: readonly string[]) => object("VirtualMesh", { status: { state: "INVALID", errors } });
    expect(paths([status(["one text"])], [status(["another", "text"])])).toEqual([]);
    expect(paths([status(["one text"])], [status([])])).toEqual(["status of VirtualMesh a.b in c: status.errors"]);
    expect(paths([status([])], [status(["one text"])])).toEqual(["status of VirtualMesh a.b in c: status.errors"]);
  });

  test("by a message that is set, though empty", () => {
    const one = object("VirtualService", { spec: { http: [{ corsPolicy: {} }] } });
    expect(paths([one], [object("VirtualService", { spec: { http: [{}] } })])).toEqual([
      "VirtualService a.b in c: spec.http[0].corsPolicy",
    ]);
  });

  test("by a label that is missing, and by an annotation either way", () => {
    const expected = object("ServiceEntry", { spec: {} }, { labels: { wanted: "x" }, annotations: { wanted: "x" } });
    const actual = object("ServiceEntry", { spec: {} }, { labels: { added: "x" }, annotations: { added: "x" } });
    expect(paths([expected], [actual])).toEqual([
      "ServiceEntry a.b in c: metadata.annotations.added",
      "ServiceEntry a.b in c: metadata.annotations.wanted",
      "ServiceEntry a.b in c: metadata.labels.wanted",
    ]);
  });
});

describe("objects are equal", () => {
  const same: readonly (readonly [string, AnyResource, AnyResource])[] = [
    [
      "in any version of their group",
      { ...object("ServiceEntry", { spec: { hosts: ["x"] } }), apiVersion: "networking.istio.io/v1alpha3" },
      object("ServiceEntry", { spec: { hosts: ["x"] } }),
    ],
    [
      "with zero values or without",
      object("DestinationRule", { spec: { trafficPolicy: { tls: { mode: "DISABLE" } }, exportTo: [], host: "" } }),
      object("DestinationRule", { spec: { trafficPolicy: { tls: {} } } }),
    ],
    [
      "with a duration in another spelling",
      object("VirtualService", { spec: { http: [{ timeout: "1.500s" }] } }),
      object("VirtualService", { spec: { http: [{ timeout: "1500ms" }] } }),
    ],
    [
      "with labels and status fields of ours",
      object("VirtualMesh", { status: { state: "ACCEPTED" } }, { labels: {} }),
      object("VirtualMesh", { status: { state: "WARNING", warnings: ["x"], conditions: [{}], meshCount: 1 } }, { labels: { added: "x" } }),
    ],
    [
      "with the label that makes endpoints speak TLS",
      object("ServiceEntry", { spec: { endpoints: [{ address: "1.1.1.1", labels: { app: "x" } }] } }),
      object("ServiceEntry", { spec: { endpoints: [{ address: "1.1.1.1", labels: { app: "x", "security.istio.io/tlsMode": "istio" } }] } }),
    ],
    [
      "with other workload labels of an ingress gateway",
      object("Mesh", { spec: { istio: { ingressGateways: [{ ip: "1.1.1.1", workloadLabels: { a: "b" } }] } } }),
      object("Mesh", { spec: { istio: { ingressGateways: [{ ip: "1.1.1.1", workloadLabels: { a: "b", c: "d" } }] } } }),
    ],
    [
      "with parents in another order",
      object("Gateway", { spec: {} }, { annotations: { "parents.networking.mesh.gloo.solo.io": '{"x":[{"name":"a"},{"name":"b"}]}' } }),
      object("Gateway", { spec: {} }, { annotations: { "parents.networking.mesh.gloo.solo.io": '{"x":[{"name":"b"},{"name":"a"}]}' } }),
    ],
  ];
  test.each(same)("%s", (_name, expected, actual) => {
    expect(compareObjects([expected], [actual])).toEqual([]);
  });
});
