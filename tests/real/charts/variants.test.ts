import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { isNight } from "@isthmus/testing/atNight";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { ApiServer } from "../harness/apiServer.ts";
import { clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import { type ChartValues, chartFolder, helm, renderChart, renderedObjects } from "../harness/helm.ts";
import { kubectl } from "../harness/kubectl.ts";
import { anyFieldsCrd, applyAll, installCrds } from "../harness/manifests.ts";
import { chartsWithValues, NAMESPACE, referenceValuesOf, valuesWith } from "./referenceValues.ts";
import { podsIn } from "./rendered.ts";
import { contradictions, variants } from "./variants.ts";

const BIN = {
  agent: "../../../apps/agent/bin/agent.js",
  "mgmt-server": "../../../apps/mgmt-server/bin/mgmt-server.js",
  ui: "../../../apps/ui/bin/ui.js",
} as const;
/** Not in the help of a program: Node's own, and those that have a flag of their own beside them. */
const OTHER_VARIABLES = ["NODE_OPTIONS", "LEADER_ELECTION", "LEGACY_NAMES"];

const helpTexts = new Map<string, string>();

/** What the program of a container says of its flags and variables. */
function helpOf(container: string): string {
  const known = helpTexts.get(container);
  if (known !== undefined) return known;
  const bin = fileURLToPath(new URL(BIN[container as keyof typeof BIN], import.meta.url));
  const help = execFileSync(process.execPath, [bin, "--help"], { encoding: "utf8" });
  helpTexts.set(container, help);
  return help;
}

// Not the operator's own, which no Go module holds alone: any spec is accepted.
const MONITORING_CRDS = [monitoringCrd("ServiceMonitor", "servicemonitors"), monitoringCrd("PrometheusRule", "prometheusrules")];

function monitoringCrd(kind: string, plural: string): AnyResource {
  return anyFieldsCrd({ apiVersion: "monitoring.coreos.com/v1", kind, plural, namespaced: true });
}

describeReal("the charts, on a real Kubernetes", (components) => {
  let fleet: Fleet<"cluster">;
  let server: ApiServer;
  let cluster: Cluster;

  beforeAll(async () => {
    fleet = await startFleet(components, ["cluster"], { crds: "all" });
    server = fleet.servers.cluster;
    cluster = clusterOf(server, "");
    await installCrds(cluster, MONITORING_CRDS);
  });
  afterAll(() => fleet?.stop());

  /** A namespace that admits only pods of the strictest Pod Security Standard. */
  async function restrictedNamespace(name: string): Promise<void> {
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await applyAll(cluster, [{ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } }]);
  }

  async function kubectlOk(args: readonly string[], input: unknown): Promise<void> {
    const { code, stderr } = await kubectl({ components, server }, [...args, "-f", "-"], input);
    expect(code, stderr).toBe(0);
    // Deprecated fields, and what the Pod Security Standard only warns of.
    expect(stderr).toBe("");
  }

  // Each third is enough to see that a chart is broken; what is special to one is seen at night.
  const tried = variants.filter((_, index) => isNight || index % 3 === 0);
  describe.each(tried.map((variant, index) => [variant.name, variant, `variant-${index}`] as const))("%s", (_, variant, namespace) => {
    it("is accepted by Helm and by the API server, strictly, first in a dry run", async () => {
      const values = variant.valuesIn?.(namespace) ?? variant.values;
      const lint = await helm({ components }, ["lint", chartFolder(variant.chart), "--strict", `--namespace=${namespace}`], values);
      expect(lint.code, lint.stdout).toBe(0);
      await restrictedNamespace(namespace);
      const items = await renderedObjects({ components, chart: variant.chart, values, namespace });
      expect(items.length).toBeGreaterThan(5);
      const list = { apiVersion: "v1", kind: "List", items };
      const apply = ["apply", "--server-side", "--force-conflicts", "--validate=strict"];
      await kubectlOk([...apply, "--dry-run=server"], list);
      await kubectlOk(apply, list);
      for (const { name, labels, spec } of podsIn(items)) {
        await kubectlOk(["create", "--dry-run=server", "--validate=strict"], {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name, namespace, labels },
          spec,
        });
      }
    });

    it("admits everybody to what proves who comes alone: agents, and users who log in", async () => {
      const { chart, values } = variant;
      const policies = (await renderedObjects({ components, chart, values })).filter(({ kind }) => kind === "NetworkPolicy");
      const rules = (policies as unknown as readonly Ports[]).flatMap(({ spec }) => spec.ingress ?? []);
      const open = rules.filter(({ from = [] }) => from.length === 0).flatMap(({ ports }) => ports.map(({ port }) => port));
      const proven = chart === "gloo-mesh-mgmt-server" ? ["grpc", "console"] : [];
      expect(open.filter((port) => !proven.includes(String(port)))).toEqual([]);
    });

    it("sets only flags and variables that the program has", async () => {
      const { chart, values } = variant;
      if (chart === "gloo-mesh-crds") return;
      const pods = podsIn(await renderedObjects({ components, chart, values })).filter(({ name }) => name !== "gloo-mesh-redis");
      expect(pods.length).toBeGreaterThan(0);
      for (const { name, args, env = [], command } of pods.flatMap(({ spec }) => spec.containers)) {
        const help = helpOf(name);
        expect(command).toBeUndefined();
        expect(args.length).toBeGreaterThan(4);
        for (const arg of args) expect(help).toMatch(new RegExp(`^ *(-\\w, )?${arg.replace(/=.*/, "")}[ ,\\n]`, "m"));
        const known = new Set([...(help.match(/\b[A-Z]+(?:_[A-Z]+)*\b/g) ?? []), ...OTHER_VARIABLES]);
        const names = env.map((variable) => variable.name);
        expect(names.length).toBeGreaterThan(1);
        expect(names.filter((variable) => !known.has(variable))).toEqual([]);
        expect(new Set(names).size).toBe(names.length);
      }
    });
  });

  it.each([
    [false, "gloo-mesh-agent", [[9977, "grpc"]]],
    [
      true,
      "enterprise-agent",
      [
        [9977, "grpc"],
        [9988, "http"],
      ],
    ],
  ] as const)(
    "gloo-mesh-agent: the Service for proxies is made unless its value is off, legacyNames: %s",
    async (legacyNames, name, ports) => {
      const relay = { cluster: "east", serverAddress: "mgmt.example:9900" };
      const render = async (dataPlane: { readonly enabled?: boolean }) => {
        const objects = await renderedObjects({ components, chart: "gloo-mesh-agent", values: { relay, legacyNames, dataPlane } });
        const of = (kind: string) => objects.filter((object) => object.kind === kind) as unknown as readonly Ports[];
        const services = of("Service").map(({ metadata, spec }) => [
          metadata.name,
          spec.ports?.map(({ port, targetPort }) => [port, targetPort]),
        ]);
        const policies = of("NetworkPolicy").flatMap(({ spec }) => spec.ingress?.flatMap((rule) => rule.ports.map(({ port }) => port)));
        const container = podsIn(objects)[0]?.spec.containers[0];
        const told = container?.args?.filter((argument) => argument.startsWith("--service"));
        return [services, policies, container?.ports?.map(({ containerPort }) => containerPort), told];
      };
      const numbers = ports.map(([port]) => port);
      const made = [[[name, ports]], ["stats", ...ports.map(([, target]) => target)], [9091, ...numbers], [`--service=${name}`]];
      expect(await render({})).toEqual(made);
      expect(await render({ enabled: true })).toEqual(made);
      expect(await render({ enabled: false })).toEqual([[], ["stats"], [9091], ["--service=none"]]);
    },
  );

  it("gloo-mesh-agent: replicas ask each other on a port that pods of the agent alone reach, and that no Service has", async () => {
    const relay = { cluster: "east", serverAddress: "mgmt.example:9900" };
    const objects = await renderedObjects({
      components,
      chart: "gloo-mesh-agent",
      values: { relay, replicas: 2, dataPlane: { enabled: true } },
    });
    expect(podsIn(objects)[0]?.spec.containers[0]?.ports?.map(({ containerPort }) => containerPort)).toEqual([9091, 9977, 9978]);
    const [policy] = objects.filter(({ kind }) => kind === "NetworkPolicy") as unknown as readonly Ports[];
    expect(policy?.spec.ingress?.find(({ ports }) => ports.some(({ port }) => port === "replicas"))).toMatchObject({
      ports: [{ port: "replicas" }],
      from: [{ podSelector: { matchLabels: { app: "gloo-mesh-agent" } } }],
    });
    const [service] = objects.filter(({ kind }) => kind === "Service") as unknown as readonly Ports[];
    expect(service?.spec.ports?.map(({ port }) => port)).toEqual([9977]);
  });

  it("write what glooNetwork.enabled asks beside the other settings, and no Settings by default", async () => {
    const settingsOf = async (values: ChartValues) =>
      (await renderedObjects({ components, chart: "gloo-mesh-mgmt-server", values })).filter(({ kind }) => kind === "Settings");
    const allowFrom = [{ namespace: "monitoring" }];
    const [written] = await settingsOf({ glooNetwork: { enabled: true }, settings: { cilium: { allowFrom } } });
    expect(written?.["spec"]).toEqual({ cilium: { accessPolicies: "ENABLED", allowFrom } });
    expect(await settingsOf({})).toEqual([]);
  });

  it.each([
    ["by default", {}, true],
    ["with an external Redis", { redis: { deployment: { enabled: false }, address: "redis.example:6379" } }, true],
    ["without Redis", { redis: { deployment: { enabled: false } } }, false],
    ["with legacy names", { legacyNames: true }, false],
    ["with legacy names, on", { legacyNames: true, glooUi: { enabled: true } }, true],
    ["off", { glooUi: { enabled: false } }, false],
  ] as const)("install the console %s or not, and admit nobody but Redis' clients to Redis: %s", async (_, values, isInstalled) => {
    const objects = await renderedObjects({ components, chart: "gloo-mesh-mgmt-server", values });
    expect(new Set(objects.filter(({ metadata }) => metadata.name === "gloo-mesh-ui").map(({ kind }) => kind))).toEqual(
      new Set(isInstalled ? ["Deployment", "NetworkPolicy", "ServiceAccount"] : []),
    );
    // No right at all: its account is in no binding.
    expect(JSON.stringify(objects.filter(({ kind }) => kind.endsWith("RoleBinding")))).not.toContain("gloo-mesh-ui");
    const policies = objects.filter(({ kind }) => kind === "NetworkPolicy") as unknown as readonly Ports[];
    const rulesOf = (name: string) => policies.find(({ metadata }) => metadata.name === name)?.spec.ingress;
    if (isInstalled) expect(rulesOf("gloo-mesh-ui")?.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual(["stats"]);
    const server = "legacyNames" in values ? "enterprise-networking" : "gloo-mesh-mgmt-server";
    const clients = rulesOf("gloo-mesh-redis")?.flatMap(({ from = [] }) => from.map(({ podSelector }) => podSelector?.matchLabels.app));
    expect(clients ?? []).toEqual("redis" in values ? [] : [server, ...(isInstalled ? ["gloo-mesh-ui"] : [])]);
  });

  it("give a console with a login the right to ask who users are and what they may list, a Service, and nothing else", async () => {
    const values = { glooUi: { login: { kind: "kubernetes", publicUrl: "https://console.example.com", tlsSecretName: "console-tls" } } };
    const objects = await renderedObjects({ components, chart: "gloo-mesh-mgmt-server", values });
    const named = (kind: string, name: string) => objects.find((object) => object.kind === kind && object.metadata.name === name);
    const { rules } = named("ClusterRole", "gloo-mesh-ui-gloo-mesh") as unknown as { readonly rules: readonly object[] };
    expect(rules).toEqual([
      { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
      { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
    ]);
    const bindings = objects.filter(
      ({ kind, ...object }) => kind.endsWith("RoleBinding") && JSON.stringify(object).includes("gloo-mesh-ui"),
    );
    expect(bindings.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([["ClusterRoleBinding", "gloo-mesh-ui-gloo-mesh"]]);
    expect(named("Service", "gloo-mesh-ui")).toMatchObject({
      spec: { type: "ClusterIP", ports: [{ port: 443, targetPort: "console", appProtocol: "https" }] },
    });
    expect(named("NetworkPolicy", "gloo-mesh-ui")).toMatchObject({ spec: { policyTypes: ["Ingress"] } });
    expect(named("Deployment", "gloo-mesh-ui")).toMatchObject({ spec: { template: { spec: { automountServiceAccountToken: true } } } });
  });

  it.each(contradictions.map((variant) => [variant.name, variant] as const))("refuses %s, with a sentence", async (_, variant) => {
    const { code, stdout, stderr } = await renderChart({ components, chart: variant.chart, values: variant.values });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(variant.says);
  });

  const reference = chartsWithValues.flatMap((chart) => referenceValuesOf(chart).map((one) => [chart, one.value, one] as const));
  it.each(reference)("%s: %s of the reference is refused with what to use instead", async (chart, value, { accepted, instead }) => {
    const base = chart === "gloo-mesh-agent" ? { relay: { cluster: "east", serverAddress: "mgmt.example:9900" } } : {};
    const render = (content: unknown) => renderChart({ components, chart, values: valuesWith(value, content, base) });
    const other = await render(typeof accepted === "string" ? "another" : accepted === false ? true : { enabled: true });
    expect([other.code, other.stdout]).toEqual([1, ""]);
    expect(other.stderr).toContain(`${value}: ${instead}`);
    if (accepted === undefined) return;
    const same = await render(accepted === NAMESPACE ? "gloo-mesh" : accepted);
    expect(same.code, same.stderr).toBe(0);
    expect(same.stdout).toBe((await renderChart({ components, chart, values: base })).stdout);
  });

  it.each(["gloo-mesh-agent", "gloo-mesh-mgmt-server"] as const)("%s: the schema knows each value, and no other", (chart) => {
    const schema = JSON.parse(readFileSync(`${chartFolder(chart)}/values.schema.json`, "utf8")) as Schema;
    const [values] = parseAllDocuments(readFileSync(`${chartFolder(chart)}/values.yaml`, "utf8"));
    // Helm's own, which every chart has.
    expect(pathsIn(values?.toJS()).filter((path) => !hasPath(schema, path))).toEqual([]);
    // Those of the reference get to the templates, which say what to use instead.
    const properties = Object.entries(schema.properties ?? {}).filter(
      ([, { description = "" }]) => !description.startsWith("of the reference:"),
    );
    expect(
      properties
        .map(([name]) => name)
        .filter((name) => name !== "global")
        .sort(),
    ).toEqual(Object.keys(values?.toJS() as object).sort());
  });
});

/** What is read of Services and NetworkPolicies. */
interface Ports {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly ports?: readonly { readonly port: number; readonly targetPort: number | string }[];
    readonly ingress?: readonly {
      readonly ports: readonly { readonly port: number | string }[];
      readonly from?: readonly { readonly podSelector?: { readonly matchLabels: { readonly app: string } } }[];
    }[];
  };
}

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly $ref?: string;
}

/** `relay.cluster` and the like, for each value that is no object. */
function pathsIn(value: unknown, prefix: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null || Array.isArray(value) || Object.keys(value).length === 0) return [prefix];
  return Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, [...prefix, name]));
}

function hasPath(schema: Schema, path: readonly string[]): boolean {
  let at: Schema | undefined = schema;
  for (const name of path) {
    if (at?.$ref !== undefined) at = schema.definitions?.[at.$ref.split("/").at(-1) ?? ""];
    // Whatever is in it is Kubernetes' own.
    if (at?.properties === undefined) return at !== undefined && at.additionalProperties !== false;
    at = at.properties[name];
  }
  return at !== undefined;
}
