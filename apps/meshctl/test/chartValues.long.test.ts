import { existsSync, readFileSync } from "node:fs";
import type { AnyResource } from "@isthmus/core";
import { systemClock } from "@isthmus/plane";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import type { RunHelm } from "../src/cluster/charts/runHelm.ts";
import { VALUES_ANNOTATION } from "../src/cluster/charts/valuesRecord.ts";
import { agentObjects } from "../src/cluster/register/agentManifest.ts";
import { agentObjectsWith, moreOfAgent, pruneAgent, refuseForgottenValues } from "../src/cluster/register/agentWithValues.ts";
import { untyped } from "../src/cluster/remoteAccess.ts";
import { managementCluster, runIn } from "./planeRun.ts";

const settings = {
  clusterName: "east",
  namespace: "gloo-mesh",
  managementNamespace: "gloo-mesh",
  relay: { host: "fd00::1", port: 9900, authority: "gloo-mesh-mgmt-server.gloo-mesh" },
};
const values = (runHelm: RunHelm) => ({ files: ["a.yaml", "b.yaml"], sets: ["x=1"], runHelm });
const Role = untyped("rbac.authorization.k8s.io/v1", "Role", "roles");
const ServiceAccount = untyped("v1", "ServiceAccount", "serviceaccounts");

/** In place of the program of that name, which is there where real components are: what it would print. */
function helm(objects: readonly AnyResource[], seen: { args?: readonly string[]; own?: unknown; hasChart?: boolean } = {}): RunHelm {
  return async (args) => {
    seen.args = args;
    seen.own = JSON.parse(readFileSync(args[args.indexOf("--values") + 1] ?? "", "utf8"));
    seen.hasChart = existsSync(`${args[2]}/templates/deployment.yaml`) && existsSync(`${args[2]}/values.schema.json`);
    return { code: 0, stdout: objects.map((object) => `---\n${stringify(object)}`).join(""), stderr: "" };
  };
}

const role = (name: string, app: string): AnyResource => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  metadata: { name, namespace: "shop", labels: { app } },
  rules: [],
});

describe("values of a chart", () => {
  it("go to Helm as they are given, after what the registration decides, with the chart that is part of meshctl", async () => {
    const seen: { args?: readonly string[]; own?: unknown; hasChart?: boolean } = {};
    const objects = await agentObjectsWith(settings, values(helm([...agentObjects(settings), role("writes", "gloo-mesh-agent")], seen)));
    const args = seen.args ?? [];
    // However Helm was built, what limits the agent is rendered.
    expect(args).toContain("--api-versions=admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy");
    expect(args.slice(args.indexOf("--values"))).toEqual([
      "--values",
      expect.any(String),
      "--values",
      "a.yaml",
      "--values",
      "b.yaml",
      "--set",
      "x=1",
    ]);
    expect(seen).toMatchObject({ own: { relay: { cluster: "east", serverAddress: "[fd00::1]:9900" } }, hasChart: true });
    // Nothing is left behind.
    expect(existsSync(seen.args?.[2] ?? "")).toBe(false);
    const account = objects.find(({ kind }) => kind === "ServiceAccount");
    const more = JSON.parse(account?.metadata.annotations?.[VALUES_ANNOTATION] ?? "");
    expect(more).toEqual([{ apiVersion: Role.apiVersion, kind: "Role", metadata: { name: "writes", namespace: "shop" } }]);
    expect(objects.at(-1)?.kind).toBe("Deployment");
  });

  it.each([
    [
      "another name",
      { clusterName: "west" },
      /give relay\.cluster another value than this registration \(--cluster=west instead of --cluster=east\)/,
    ],
    ["another authority", { relay: { ...settings.relay, authority: "else.where" } }, /give relay\.authority another value/],
    ["no certificate", { clientCertificates: false }, /give relay\.disableClientCertificateAuthentication another value/],
  ])("are refused with %s than the registration has", async (_, other, message) => {
    await expect(agentObjectsWith(settings, values(helm(agentObjects({ ...settings, ...other }))))).rejects.toThrow(message);
  });

  it("that Helm refuses are refused in its words", async () => {
    const stderr =
      'WARNING: something\nError: values don\'t meet the specifications of the schema(s):\n- at "/x": not allowed\nUse --debug flag\n';
    const refusing: RunHelm = async () => ({ code: 1, stdout: "", stderr });
    await expect(agentObjectsWith(settings, values(refusing))).rejects.toThrow(
      'Helm refuses these values: values don\'t meet the specifications of the schema(s): - at "/x": not allowed: correct --values or --set',
    );
    const printing: RunHelm = async () => ({ code: 0, stdout: "just: text\n", stderr: "" });
    await expect(agentObjectsWith(settings, values(printing))).rejects.toThrow(/no Kubernetes object/);
  });

  it("are not forgotten, and nothing goes that is not of this chart and of meshctl, whatever the record says", async () => {
    const remote = workload();
    const ours = { fieldManager: "meshctl" };
    await remote.apply(role("ours", "gloo-mesh-agent"), ours);
    await remote.apply(role("of-the-server", "gloo-mesh-mgmt-server"), ours);
    await remote.apply(role("of-a-user", "gloo-mesh-agent"), { fieldManager: "kubectl" });
    const named = ["ours", "of-the-server", "of-a-user", "gone"].map((name) => role(name, ""));
    const record = JSON.stringify([
      ...named,
      "nothing",
      { apiVersion: 7 },
      { apiVersion: "example.com/v1", kind: "Other", metadata: { name: "x" } },
    ]);
    const account = (text: string): AnyResource => ({
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "gloo-mesh-agent", namespace: "gloo-mesh", annotations: { [VALUES_ANNOTATION]: text } },
    });
    await remote.apply(account(record), ours);

    const said: string[] = [];
    const registration = {
      remote,
      remoteNamespace: "gloo-mesh",
      clusterName: "east",
      values: undefined,
      resetsValues: false,
      say: (line: string) => said.push(line),
    };
    await expect(refuseForgottenValues(registration)).rejects.toThrow(/pass its --values and --set again, or --reset-values$/);
    await refuseForgottenValues({ ...registration, resetsValues: true });
    expect((await moreOfAgent(remote, "gloo-mesh")).map(({ object }) => object.metadata.name)).toEqual(["ours"]);
    await pruneAgent(registration, { objects: [], earlier: named });
    expect(said).toEqual(["deleted Role shop/ours, which these values do not have"]);
    expect((await remote.list(Role)).items.map(({ metadata }) => metadata.name).sort()).toEqual(["of-a-user", "of-the-server"]);

    // A record that nobody can read names nothing, and says all the same that there were values.
    await remote.apply(account("{"), { ...ours, force: true });
    await expect(refuseForgottenValues(registration)).rejects.toThrow(/has values of its own/);
    expect(await moreOfAgent(remote, "gloo-mesh")).toEqual([]);
  });

  it.each([
    [["cluster", "register", "east", "--standard", "--set", "a=b"], /--set and --standard are mutually exclusive: it is about an agent/],
    [["cluster", "register", "east", "--print-gitops", "--reset-values"], /--reset-values and --print-gitops are mutually exclusive/],
    [["install", "--reset-values", "--set", "a=b"], /--reset-values and --values or --set are mutually exclusive/],
    [["install", "--reset-values", "--chart-values-file", "a.yaml"], /--reset-values and --values or --set are mutually exclusive/],
  ])("are refused where they mean nothing: %j", async (args, message) => {
    expect(await runIn(managementCluster([]), args)).toMatchObject({ code: 2, err: expect.stringMatching(message) });
  });
});

function workload(): SimulatedCluster {
  const cluster = simulatedCluster({ name: "", clock: systemClock, kinds: [Role, ServiceAccount] });
  cluster.load(["gloo-mesh", "shop"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
  return cluster;
}
