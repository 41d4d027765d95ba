import { describe, expect, it } from "vitest";
import { serverObjects } from "../src/cluster/install/serverManifest.ts";
import { INSTALLING_SERVER } from "../src/plane/precheck/planePrecheck.ts";
import { expectEmbedded, expectEmbeddedChart } from "./embeddedManifest.ts";

describe("the manifest of the management server", () => {
  it("is embedded as it is rendered (UPDATE_GOLDEN=1 writes it)", () =>
    expectEmbedded("gloo-mesh-mgmt-server.yaml", "serverManifest.json"));

  it("has its chart embedded, for values of users (UPDATE_GOLDEN=1 writes it)", () =>
    expectEmbeddedChart("gloo-mesh-mgmt-server", "serverChart.json"));

  it("is moved to another namespace as a whole: no name of the first is left, but in labels", () => {
    const objects = serverObjects("plane");
    expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set([undefined, "plane"]));
    const named = objects.filter(({ metadata }) => metadata.namespace === undefined).map(({ metadata }) => metadata.name);
    expect(named).toEqual(["gloo-mesh-mgmt-server-plane", "gloo-mesh-mgmt-server-plane"]);
    const text = JSON.stringify(objects);
    expect(text).toContain("--redis-address=gloo-mesh-redis.plane:6379");
    expect(text).toContain('"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"gloo-mesh-mgmt-server-plane"}');
    expect(text.replaceAll('"app.kubernetes.io/part-of":"gloo-mesh"', "")).not.toMatch(/"gloo-mesh"|\.gloo-mesh\b|server-gloo-mesh/);
  });

  it.each(["a b", "x\nkind: Secret", ""])("is not put into a namespace called %j", (namespace) => {
    expect(() => serverObjects(namespace)).toThrow(/is not a valid namespace name/);
  });

  it("has no kind whose creation is not checked before", () => {
    const checked = new Set(INSTALLING_SERVER.map(({ resource }) => resource));
    const plural = (kind: string): string => (kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`).toLowerCase();
    expect(new Set(serverObjects("gloo-mesh").map(({ kind }) => plural(kind)))).toEqual(checked);
  });
});
