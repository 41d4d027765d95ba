import { readFileSync } from "node:fs";
import { EXPLAINED_CODES } from "@isthmus/insights/catalogue";
import { expect, it } from "vitest";
import { bundleCommands, rotateCommand } from "../../client/model/commands.ts";
import { copiesOf, copiesOfCode, documentationOfCode } from "../../client/model/copies.ts";

const metadata = { name: "c1; rm -rf /", namespace: "gloo-mesh" };

it("says how to save the fleet, in whatever namespace the server is", () => {
  expect(bundleCommands("a b")[0]).toBe("kubectl --namespace 'a b' port-forward deployment/gloo-mesh-mgmt-server 9091");
  expect(bundleCommands("gloo-mesh").at(-1)).toBe("meshctl snapshot serve fleet.json");
});

it("offers the commands that show an object, quoted for a shell, and its link", () => {
  const cluster = { apiVersion: "multicluster.solo.io/v1alpha1", kind: "KubernetesCluster", metadata };
  expect(copiesOf(cluster, "http://x").map(({ label, text }) => [label, text()])).toEqual([
    ["kubectl command", "kubectl --namespace gloo-mesh get kubernetescluster.multicluster.solo.io 'c1; rm -rf /' --output yaml"],
    ["meshctl command", "meshctl cluster describe 'c1; rm -rf /'"],
    ["command that diagnoses it", "meshctl cluster diagnose 'c1; rm -rf /'"],
    ["link", "http://x/object/multicluster.solo.io/KubernetesCluster/_/gloo-mesh/c1%3B%20rm%20-rf%20%2F"],
  ]);
  const service = { apiVersion: "v1", kind: "Service", metadata: { ...metadata, clusterName: "c1" } };
  expect(copiesOf(service, "").map(({ label }) => label)).toEqual(["kubectl command", "link"]);
});

it("offers the command that explains a code, its link and where its documentation is", () => {
  expect(copiesOfCode("BP0001", "http://x").map(({ label, text }) => [label, text()])).toEqual([
    ["meshctl command", "meshctl insights explain BP0001"],
    ["link", "http://x/insights/BP0001"],
    ["documentation", "docs/reference/insights.md#bp0001-virtualservice-without-exportto"],
  ]);
  // A server of another version may know more codes, and what it sends is not to be trusted in a shell.
  expect(copiesOfCode("X; rm /", "").map(({ text }) => text())).toEqual([
    "meshctl insights explain 'X; rm /'",
    "/insights/X%3B%20rm%20%2F",
  ]);
});

it("names a section of the documentation that there is, for every code", () => {
  const page = readFileSync("docs/reference/insights.md", "utf8");
  for (const { code } of EXPLAINED_CODES) {
    const [, anchor = ""] = (documentationOfCode(code) ?? "").split("#");
    expect(page).toContain(`[\`${code}\`](#${anchor})`);
  }
});

it("says how to have the CA of a mesh issued again, under the name that meshctl knows, quoted for a shell", () => {
  expect(rotateCommand({ kind: "meshIntermediate", name: "istio-system/istiod-c1" })).toBe(
    "meshctl cert rotate meshIntermediate/istiod-c1",
  );
  expect(rotateCommand({ kind: "meshIntermediate", name: "istiod-c1" })).toBe("meshctl cert rotate meshIntermediate/istiod-c1");
  expect(rotateCommand({ kind: "meshIntermediate", name: "a; rm" })).toBe("meshctl cert rotate 'meshIntermediate/a; rm'");
  for (const kind of ["agent", "meshRoot", "relaySigning"]) expect(rotateCommand({ kind, name: "x" })).toBeUndefined();
});
