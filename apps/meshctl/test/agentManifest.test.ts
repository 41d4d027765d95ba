import { describe, expect, it } from "vitest";
import { agentObjects } from "../src/cluster/register/agentManifest.ts";
import { expectEmbedded, expectEmbeddedChart } from "./embeddedManifest.ts";

const settings = {
  clusterName: "east",
  namespace: "gloo-mesh",
  managementNamespace: "gloo-mesh",
  relay: { host: "fd00::1", port: 9900, authority: "gloo-mesh-mgmt-server.gloo-mesh" },
};

describe("the agent's manifest", () => {
  it("is embedded as it is rendered (UPDATE_GOLDEN=1 writes it)", () => expectEmbedded("gloo-mesh-agent.yaml", "agentManifest.json"));

  it("has its chart embedded, for values of users (UPDATE_GOLDEN=1 writes it)", () =>
    expectEmbeddedChart("gloo-mesh-agent", "agentChart.json"));

  it("has each value where the manifest names it, and no name of a value left", () => {
    const text = JSON.stringify(agentObjects(settings));
    for (const value of ["east", "[fd00::1]:9900", "gloo-mesh-mgmt-server.gloo-mesh"]) expect(text).toContain(value);
    expect(text).not.toMatch(/[=:]\s*"?(CLUSTER_NAME|RELAY_ADDRESS|RELAY_AUTHORITY)"(?!,"value)/);
  });

  it("is moved to another namespace, and says where the management plane is", () => {
    const objects = agentObjects({ ...settings, namespace: "agents", managementNamespace: "plane" });
    expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set([undefined, "agents"]));
    const binding = objects.find(({ kind }) => kind === "ClusterRoleBinding");
    expect(JSON.stringify(binding?.["subjects"])).toContain('"namespace":"agents"');
    expect(JSON.stringify(objects.find(({ kind }) => kind === "Deployment"))).toContain("--management-namespace=plane");
  });

  it("says that the agent has no client certificate, where it has none", () => {
    const argsOf = (given: Parameters<typeof agentObjects>[0]) =>
      JSON.stringify(agentObjects(given).find(({ kind }) => kind === "Deployment"));
    expect(argsOf(settings)).not.toContain("--disable-client-certificates");
    expect(argsOf({ ...settings, clientCertificates: false })).toContain('"--disable-client-certificates"');
  });

  it("begins with what the rest needs", () => {
    const kinds = agentObjects(settings).map(({ kind }) => kind);
    expect(kinds.indexOf("ServiceAccount")).toBeLessThan(kinds.indexOf("Deployment"));
    expect(kinds.indexOf("ClusterRole")).toBeLessThan(kinds.indexOf("ClusterRoleBinding"));
  });

  it.each([
    ["name", { ...settings, clusterName: "east\n  evil: true" }, /not a valid cluster name/],
    ["namespace", { ...settings, namespace: "a b" }, /--remote-namespace a b/],
    ["authority", { ...settings, relay: { ...settings.relay, authority: "x: y" } }, /--relay-authority x: y/],
    ["host", { ...settings, relay: { ...settings.relay, host: "a,b" } }, /no host name/],
  ])("takes no %s that is none", (_, given, message) => {
    expect(() => agentObjects(given)).toThrow(message);
  });
});
