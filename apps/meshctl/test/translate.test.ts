import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { withThrowingMember } from "@isthmus/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { meshctl } from "../src/meshctl.ts";
import { expectOutput } from "./outputs/expectOutput.ts";
import { recordedIo } from "./recordedIo.ts";

// One cluster with one service in its mesh, as discovery publishes it.
const DISCOVERED = `
apiVersion: multicluster.solo.io/v1alpha1
kind: KubernetesCluster
metadata: {name: east, namespace: gloo-mesh}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Mesh
metadata: {name: istiod-istio-system-east, namespace: gloo-mesh}
spec:
  istio:
    installation: {namespace: istio-system, cluster: east, version: 1.24.0}
    trustDomain: cluster.local
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Workload
metadata: {name: cart-shop-east-deployment, namespace: gloo-mesh}
spec:
  kubernetes:
    controller: {name: cart, namespace: shop, clusterName: east}
    podLabels: {app: cart}
    serviceAccountName: cart
  mesh: {name: istiod-istio-system-east, namespace: gloo-mesh}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: cart-shop-east, namespace: gloo-mesh}
spec:
  kubeService:
    ref: {name: cart, namespace: shop, clusterName: east}
    workloadSelectorLabels: {app: cart}
    ports: [{port: 8080, name: http, protocol: TCP}]
  mesh: {name: istiod-istio-system-east, namespace: gloo-mesh}
`;

const policy = (name: string, timeout: string) => `
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: ${name}, namespace: shop}
spec:
  destinationSelector:
  - kubeServiceRefs:
      services: [{name: cart, namespace: shop, clusterName: east}]
  policy:
    requestTimeout: ${timeout}
`;

// The control plane and a workload of another cluster, as Kubernetes has them.
const SETTINGS = `
apiVersion: settings.mesh.gloo.solo.io/v1
kind: Settings
metadata: {name: settings, namespace: gloo-mesh}
spec: {mtls: {istio: {tlsMode: ISTIO_MUTUAL}}}
---
`;

const UNDISCOVERED = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: istiod, namespace: istio-system, clusterName: west, labels: {app: istiod}}
spec:
  selector: {matchLabels: {app: istiod}}
  template:
    metadata: {labels: {app: istiod}}
    spec:
      serviceAccountName: istiod
      containers: [{name: discovery, image: "docker.io/istio/pilot:1.24.0"}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system, clusterName: west}
data: {mesh: "trustDomain: cluster.local"}
---
apiVersion: multicluster.solo.io/v1alpha1
kind: KubernetesCluster
metadata: {name: west, namespace: gloo-mesh}
`;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "meshctl-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

async function translate(args: readonly string[], input = "") {
  const io = recordedIo(input);
  const code = await meshctl(["translate", ...args], io);
  expectOutput(["translate", ...args], io.written.out);
  return { code, out: io.written.out, err: io.written.err.replaceAll(`${folder}/`, "") };
}

interface Printed {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly clusterName?: string };
  readonly spec?: { readonly http?: readonly { readonly timeout?: string }[] };
  readonly status?: { readonly state?: string; readonly errors?: readonly string[] };
}
const documents = (out: string): readonly Printed[] => parseAllDocuments(out).map((document) => document.toJS() as Printed);
const named = ({ kind, metadata }: Printed): string => `${kind} ${metadata.name} ${metadata.clusterName ?? "-"}`;

describe("meshctl translate", () => {
  it("prints what each cluster gets, each object with its cluster, and exits with 0", async () => {
    const { code, out, err } = await translate(["-f", file("in.yaml", `${DISCOVERED}---${policy("slow", "5s")}`)]);
    expect(err).toMatch(/^5 objects read, \d+ objects? generated for east; 0 errors, \d+ warnings?\n$/);
    expect(code).toBe(0);
    const virtualService = documents(out).find(({ kind }) => kind === "VirtualService");
    expect(virtualService?.metadata.clusterName).toBe("east");
    expect(virtualService?.spec?.http?.[0]?.timeout).toBe("5s");
  });

  it("rejects an object on which translation throws, and prints what follows from all others", async () => {
    const good = await translate(["-f", file("good.yaml", `${DISCOVERED}---${policy("slow", "5s")}`)]);
    const text = `${DISCOVERED}---${policy("slow", "5s")}---${policy("bad", "7s")}`;
    const isBad = (object: object) => (object as { readonly requestTimeout?: string }).requestTimeout === "7s";
    const run = () => translate(["--status", "-f", file("in.yaml", text)]);
    const { code, out, err } = await withThrowingMember("corsPolicy", isBad, run);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^error: in\.yaml:\d+: TrafficPolicy shop\/bad: internal error \(Error: a step has a bug\): nothing follows from this object; .* \[InternalError\]$/m,
    );
    expect(err).toMatch(/^6 objects read, \d+ objects? generated for east; 1 error/m);
    const printed = documents(out);
    for (const one of documents(good.out)) expect(printed).toContainEqual(one);
    expect(printed.find(({ metadata }) => metadata.name === "bad")?.status).toMatchObject({ state: "FAILED" });
    expect(printed.find(({ metadata }) => metadata.name === "slow")?.status).toMatchObject({ state: "ACCEPTED" });
  });

  it("prints nothing over an object that somebody else has under the name, and says so as agents do", async () => {
    const theirs = (labels: string) => `---
apiVersion: networking.istio.io/v1beta1
kind: VirtualService
metadata: {name: cart, namespace: shop, clusterName: east, labels: {${labels}}}
spec: {hosts: [partners.example], http: [{route: [{destination: {host: partners.example}}]}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: cart, namespace: shop, clusterName: east, labels: {${labels}}}
spec: {host: partners.example}
`;
    const args = ["-f", file("in.yaml", `${SETTINGS}${DISCOVERED}---${policy("slow", "5s")}${theirs("team: shop")}`)];
    const { code, out, err } = await translate([...args, "--status"]);
    expect(code).toBe(1);
    expect(documents(out).map(named)).not.toContain("VirtualService cart east");
    expect(documents(out).map(named)).not.toContain("DestinationRule cart east");
    const [route, rule] = ["VirtualService", "DestinationRule"].map(
      (kind) =>
        `${kind} shop/cart in east cannot be written (Conflict): ${kind} shop/cart in east exists and is not managed by us, so it is not changed: delete or rename it, or add our owner label to let us manage it`,
    );
    expect(err).toContain(`TrafficPolicy shop/slow: ${route} (on Destination gloo-mesh/cart-shop-east) [WriteFailed]`);
    expect(err).toContain(`Destination gloo-mesh/cart-shop-east: ${rule} [WriteFailed]`);
    const status = documents(out).find(({ kind }) => kind === "TrafficPolicy")?.status;
    expect(status).toMatchObject({ state: "FAILED" });
    const validated = recordedIo("");
    expect(await meshctl(["validate", ...args], validated)).toBe(1);
    expect(validated.written.out).toContain(rule);
    // What bears our label is ours, as when all that was printed is read again.
    const ours = theirs("owner.networking.mesh.gloo.solo.io: gloo-mesh");
    const again = await translate(["-f", file("in.yaml", `${SETTINGS}${DISCOVERED}---${policy("slow", "5s")}${ours}`)]);
    expect({ code: again.code, names: documents(again.out).map(named) }).toMatchObject({
      code: 0,
      names: expect.arrayContaining(["VirtualService cart east", "DestinationRule cart east"]),
    });
  });

  it("gives the same as YAML, as one JSON List, from standard input and from a folder", async () => {
    const text = `${DISCOVERED}---${policy("slow", "5s")}`;
    const asYaml = await translate(["-f", file("in.yaml", text), "--status"]);
    const asJson = await translate(["--file", "-", "--status", "-o", "json"], text);
    file("second.yaml", policy("slow", "5s"));
    file("in.yaml", DISCOVERED);
    const fromFolder = await translate(["-f", folder, "--status"]);
    expect(JSON.parse(asJson.out)).toEqual({ apiVersion: "v1", kind: "List", items: documents(asYaml.out) });
    expect(fromFolder.out).toBe(asYaml.out);
    expect([asYaml.code, asJson.code, fromFolder.code]).toEqual([0, 0, 0]);
  });

  it("accepts the examples of the documentation, from Kubernetes objects to routes", async () => {
    const { code, out, err } = await translate(["-f", "docs/examples"]);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/ for cluster-1, cluster-2; 0 errors, 0 warnings\n$/) });
    const routes = documents(out).find(({ kind, metadata }) => kind === "VirtualService" && metadata.clusterName === "cluster-1");
    expect(routes?.spec?.http?.[0]).toMatchObject({
      timeout: "5s",
      route: [
        { destination: { host: "reviews.bookinfo.svc.cluster.local" }, weight: 75 },
        { destination: { host: "reviews.bookinfo.svc.cluster-2.global" }, weight: 25 },
      ],
    });
  });

  it("prints by stage: derived discovery objects, Istio's, or both in one order", async () => {
    const path = file("in.yaml", `${SETTINGS}${DISCOVERED}---${UNDISCOVERED}`);
    const [discovery, networking, all] = await Promise.all(
      ["discovery", "networking", "all"].map(async (stage) => documents((await translate(["-f", path, "--stage", stage])).out).map(named)),
    );
    expect(discovery).toEqual(["Mesh istiod-istio-system-west -"]);
    expect(networking).not.toContain("Mesh istiod-istio-system-west -");
    expect(networking).toContain("DestinationRule cart east");
    expect(new Set(all)).toEqual(new Set([...(discovery ?? []), ...(networking ?? [])]));
  });

  it("rejects one bad object with its field and line, keeps the rest, and says so in statuses and by exit code 1", async () => {
    const bad = policy("bad", "soon").replace("namespace: shop", "namespace: shop, generation: 4");
    const path = file("in.yaml", `${DISCOVERED}---${bad}---${policy("good", "5s")}`);
    const { code, out, err } = await translate(["-f", path, "--status"]);
    expect(code).toBe(1);
    expect(err).toMatch(/^error: in\.yaml:\d+: TrafficPolicy shop\/bad: spec\.policy\.requestTimeout: "soon"/m);
    const statuses = documents(out).filter(({ status }) => status !== undefined);
    expect(statuses.find(({ metadata }) => metadata.name === "bad")).toMatchObject({
      kind: "TrafficPolicy",
      metadata: { name: "bad", namespace: "shop" },
      status: { state: "INVALID", observedGeneration: 4, errors: [expect.stringContaining("soon")] },
    });
    expect(statuses.find(({ metadata }) => metadata.name === "good")?.status?.state).toBe("ACCEPTED");
    expect(documents(out).some(({ kind }) => kind === "VirtualService")).toBe(true);
    const withoutStatus = await translate(["-f", path, "-o", "json"]);
    expect(withoutStatus.code).toBe(1);
    expect(withoutStatus.out).not.toContain("INVALID");
  });

  it("rejects a policy that names an unknown service, by field, and exits with 1", async () => {
    const unknown = policy("lost", "5s").replace("name: cart", "name: nowhere");
    const { code, out, err } = await translate(["-f", file("in.yaml", `${DISCOVERED}---${unknown}`), "--status"]);
    expect(code).toBe(1);
    expect(err).toMatch(/^error: in\.yaml:\d+: TrafficPolicy shop\/lost: spec\.destinationSelector\[0\]/m);
    expect(documents(out).find(({ metadata }) => metadata.name === "lost")?.status?.state).toBe("INVALID");
  });

  it("says what an audit of the network layer finds, and writes nothing of it", async () => {
    const path = "packages/translators/testdata/cilium/an-audit-says-what-would-be-written-and-cut.in.yaml";
    const { code, out, err } = await translate(["-f", path, "--status"]);
    expect(code).toBe(0);
    expect(err).toMatch(
      /^warning: \S+: AccessPolicy gloo-mesh\/cart: .*would get CiliumNetworkPolicy shop\/accesspolicy-cart, which selects 7 known pods/m,
    );
    expect(err).toMatch(
      /^warning: \S+: AccessPolicy gloo-mesh\/cart: .*scrapers of 7 pods \(cart-0 and 6 more\) with prometheus.io\/scrape on port 15020, 9090;/m,
    );
    expect(documents(out).map(({ kind }) => kind)).not.toContain("CiliumNetworkPolicy");
    expect(out).toContain("as its Service has type NodePort");
  });

  it("warns without a change of the exit code, by field and line, and judges no policy where only discovery is asked for", async () => {
    const settings =
      "apiVersion: settings.mesh.gloo.solo.io/v1\nkind: Settings\nmetadata: {name: settings, namespace: gloo-mesh}\nspec:\n  mtsl: {}\n";
    const lost = policy("lost", "5s").replace("name: cart", "name: nowhere").replace("requestTimeout", "requestTimout");
    const path = file("in.yaml", `${settings}---${lost}`);
    const { code, err } = await translate(["-f", path]);
    expect(code).toBe(1);
    expect(err).toMatch(/^warning: in\.yaml:5: Settings gloo-mesh\/settings: spec\.mtsl: .*did you mean mtls\?/m);
    expect(err).toMatch(/^warning: in\.yaml:\d+: TrafficPolicy shop\/lost: spec\.policy\.requestTimout: /m);
    const onlyDiscovery = await translate(["-f", path, "--stage", "discovery", "--status"]);
    expect(onlyDiscovery).toMatchObject({ code: 0, out: "" });
    expect((await translate(["-f", file("in.yaml", settings)])).code).toBe(0);
  });

  it.each([
    ["nothing to read", [], "name files or directories with YAML or JSON"],
    ["an unknown stage", ["-f", "-", "--stage", "half"], "Allowed choices are discovery, networking, all"],
    ["an unknown format", ["-f", "-", "-o", "xml"], "Allowed choices are yaml, json"],
    ["an unknown flag", ["-f", "-", "--stats"], "Did you mean --status?"],
    ["a cluster name that is none", ["-f", "-", "--agent-cluster", "My Cluster"], "--agent-cluster My Cluster: must be a DNS label"],
    ["a namespace that is none", ["-f", "-", "--namespace", "Gloo"], "--namespace Gloo: must be a DNS label"],
    ["a file that is not there", ["-f", "no/such.yaml"], "no/such.yaml: no such file or directory"],
  ])("exits with 2 for %s, without a stack trace", async (_, args, message) => {
    const { code, out, err } = await translate(args);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain(message);
    expect(err).not.toMatch(/^\s+at /m);
  });

  it("exits with 2 for unreadable input, and names every file, document and line", async () => {
    const one = file("one.yaml", `${DISCOVERED}---\nkind: [Service\n`);
    const two = file("two.json", '{"apiVersion": "v1",\n "metadata": {}}');
    const { code, out, err } = await translate(["-f", one, two]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^error: one\.yaml:\d+, document 5: .+\ntwo\.json:1, document 1: has no kind/);
  });

  it("says when it can't know whose objects are, but not where one cluster is named", async () => {
    const input = `${UNDISCOVERED.replaceAll(", clusterName: west", "")}---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: n}\n`;
    const { code, out, err } = await translate(["-f", "-"], input);
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toMatch(
      /^info: Deployment istio-system\/istiod and 1 other object have no metadata\.clusterName, .*set it.*--agent-cluster/m,
    );
    const discovered = await translate(["-f", "-", "--agent-cluster", "west", "--stage", "discovery"], input);
    expect(documents(discovered.out).map(named)).toEqual(["Mesh istiod-istio-system-west -"]);
    expect(discovered.err).not.toContain("info:");
  });

  it("ignores what it does not know with a note, and fails where nothing at all is read", async () => {
    const options = "apiVersion: example.com/v1\nkind: Options\nagentCluster: x\n";
    const { code, err } = await translate(["-f", "-"], `${options}---${DISCOVERED}`);
    expect(code).toBe(0);
    expect(err).toContain("info: standard input: ignored example.com/v1 Options (standard input, document 1)");
    expect(await translate(["-f", "-", "-o", "json"], "# nothing\n")).toEqual({
      code: 2,
      out: "",
      err: "error: standard input: no objects found that translation uses\n",
    });
    expect(await translate(["-f", "-"], options)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/no objects found.*\nignored example.com\/v1 Options/),
    });
  });

  it("fails where standard input or a named file is empty beside others, as where the command that should have written it failed", async () => {
    const world = file("world.yaml", DISCOVERED);
    expect(await translate(["-f", world, "-"], "")).toMatchObject({
      code: 2,
      out: "",
      err: "error: standard input: is empty: leave it out, or look at what should have written it\n",
    });
    const none = file("none.yaml", "# nothing\n---\n");
    expect((await translate(["-f", world, none])).err).toMatch(/^error: .*none\.yaml: is empty: /);
    // In a folder, nobody expects something of a certain file.
    expect((await translate(["-f", dirname(none)])).code).toBe(0);
    expect((await translate(["-f", world, "-"], '{"apiVersion": "v1", "kind": "List", "items": null}')).code).toBe(0);
  });

  it.each(["", "items: {a: b}", "items: none"])("does not take a List for an object when its items are no list: %s", async (items) => {
    const { code, err } = await translate(["-f", "-"], `${DISCOVERED}---\napiVersion: v1\nkind: List\n${items}\n`);
    expect(code).toBe(2);
    expect(err).toMatch(/^error: standard input:\d+, document 5: is a List without a list of items: set items, or leave it out$/m);
  });

  it("fails for what weighs as much as --fail-on says", async () => {
    const input = `${DISCOVERED}---${policy("slow", "0.5ms")}`;
    expect((await translate(["-f", "-"], input)).code).toBe(0);
    expect((await translate(["-f", "-", "--fail-on", "warning"], input)).code).toBe(1);
    const twice = `${DISCOVERED}---${policy("slow", "5s")}---${policy("slow", "5s")}`;
    expect((await translate(["-f", "-", "--fail-on", "warning"], twice)).code).toBe(0);
    expect((await translate(["-f", "-", "--fail-on", "info"], twice)).code).toBe(1);
  });

  it("prints one cluster as its API server takes it, and writes each cluster to a file of its own", async () => {
    const input = file("in.yaml", `${DISCOVERED}---${policy("slow", "5s")}`);
    const one = await translate(["-f", input, "--cluster", "east"]);
    expect(documents(one.out).length).toBeGreaterThan(0);
    expect(one.out).not.toContain("clusterName: ");
    expect((await translate(["-f", input, "--cluster", "west"])).out).toBe("");
    expect(await translate(["-f", input, "--cluster", "eats"])).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringMatching(/^error: --cluster eats: the input has no such cluster; it has .*east/),
    });
    const folder = join(input, "..", "generated");
    const all = await translate(["-f", input, "--status", "--out-dir", folder]);
    expect(all.out).toBe("");
    expect(readdirSync(folder).sort()).toEqual(["east.yaml", "management.yaml"]);
    expect(readFileSync(join(folder, "east.yaml"), "utf8")).toBe(one.out);
    const hostile = `${SETTINGS}${DISCOVERED}`
      .replaceAll("clusterName: east", "clusterName: ../east")
      .replaceAll("cluster: east", "cluster: ../east");
    const refused = await translate(["-f", file("hostile.yaml", hostile), "--out-dir", folder]);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('"../east" is not a valid cluster name') });
  });

  it("gives kubectl whole objects with their statuses, and reads them back as what they were", async () => {
    const mine = policy("mine", "5s").replace("metadata: {", "metadata: {clusterName: east, ");
    const policies = `${policy("slow", "5s")}---${policy("bad", "soon")}---${mine}`;
    const [dump, users] = [file("in.yaml", DISCOVERED), file("policies.yaml", policies)];
    const folder = join(dump, "..", "whole");
    for (const format of ["yaml", "json"]) await translate(["-f", dump, users, "--status", "--out-dir", folder, "-o", format]);
    const given = documents(policies);
    for (const [name, members] of [
      ["management", ["slow", "bad"]],
      ["east", ["mine"]],
    ] as const) {
      const text = readFileSync(join(folder, `${name}.yaml`), "utf8");
      const objects = documents(text);
      const list = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as { readonly items: readonly Printed[] };
      expect(list.items).toEqual(objects);
      expect(objects.filter((one) => "status" in one && !("spec" in one))).toEqual([]);
      for (const member of members) {
        const { clusterName: _, ...metadata } = given.find(({ metadata }) => metadata.name === member)?.metadata ?? { name: "" };
        const { status, ...object } = objects.find(({ metadata }) => metadata.name === member) ?? {};
        expect(object).toEqual({ ...given.find(({ metadata }) => metadata.name === member), metadata });
        expect(status?.state).toBe(member === "bad" ? "INVALID" : "ACCEPTED");
      }
    }
    const one = await translate(["-f", dump, users, "--status", "--cluster", "east"]);
    expect(one.out).toBe(readFileSync(join(folder, "east.yaml"), "utf8"));

    // What was printed says all that was given: beside it, and in its place.
    const management = join(folder, "management.yaml");
    const first = await translate(["-f", dump, users, "--cluster", "east"]);
    const others = file("mine.yaml", mine);
    for (const files of [
      [dump, others, management],
      [dump, users, management],
    ]) {
      expect((await translate(["-f", ...files, "--cluster", "east"])).out).toBe(first.out);
    }
  });

  it("does not miss the objects of statuses that are in the input", async () => {
    const path = file("in.yaml", `${DISCOVERED}---${policy("slow", "5s")}`);
    const printed = file("out.yaml", (await translate(["-f", path, "--status"])).out);
    expect((await translate(["-f", path, printed])).err).not.toContain("without");
    expect((await translate(["-f", printed])).err).toMatch(/ignored \d+ statuses without their objects .* add the files of their objects/);
  });

  it("prints what it derives and its status as one document, which can be read back", async () => {
    const first = await translate(["-f", "docs/examples", "--status"]);
    const printed = documents(first.out);
    expect(new Set(printed.map(named)).size).toBe(printed.length);
    expect(printed.find(({ kind }) => kind === "Destination")).toMatchObject({ spec: expect.anything(), status: expect.anything() });
    const again = await translate(["-f", "docs/examples", "-f", file("out.yaml", first.out), "--status"]);
    expect(again.code).toBe(0);
    // What is given is not generated: of that only the status is printed.
    const isDiscovered = ({ kind }: Printed) => ["Mesh", "Workload", "Destination"].includes(kind);
    expect(documents(again.out).filter((one) => !isDiscovered(one))).toEqual(printed.filter((one) => !isDiscovered(one)));
    const statuses = (all: readonly Printed[]) =>
      all.filter(isDiscovered).flatMap((one) => (one.status === undefined ? [] : [[named(one), one.status]]));
    expect(statuses(documents(again.out))).toEqual(statuses(printed));
  });
});

describe("meshctl validate", () => {
  async function validate(args: readonly string[], input: string) {
    const io = recordedIo(input);
    const code = await meshctl(["validate", ...args], io);
    expectOutput(["validate", ...args], io.written.out);
    return { code, ...io.written };
  }
  const WRONG = `${DISCOVERED}---${policy("slow", "5")}`;

  it("prints findings with their codes, and no objects", async () => {
    const { code, out, err } = await validate(["-f", "-"], WRONG);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^\d+ objects read; 1 error, 0 warnings\n$/) });
    expect(out).toMatch(
      /^error: standard input:\d+: TrafficPolicy shop\/slow: spec.policy.requestTimeout: 5 is not a duration.* \[Malformed\]$/m,
    );
    expect(await validate(["-f", "-"], DISCOVERED)).toMatchObject({ code: 0 });
  });

  it("prints findings alone with --quiet, and no colors with --plain", async () => {
    const red = (text: string): string => `<red>${text}</red>`;
    const colored = async (...args: readonly string[]) => {
      const { written, colors, ...io } = recordedIo(WRONG);
      const code = await meshctl(["validate", "-f", "-", ...args], { ...io, colors: { ...colors, red }, ...terminal });
      return { code, lines: `${written.out}${written.err}`.trimEnd().split("\n") };
    };
    let terminal: { readonly columns?: number } = { columns: 80 };
    const all = await colored();
    expect(all.lines).toEqual([expect.stringMatching(/^<red>error:/), expect.stringMatching(/^\d+ objects read; 1 error/)]);
    expect(await colored("-q")).toEqual({ code: 1, lines: all.lines.slice(0, 1) });
    const plain = await colored("--plain");
    expect(plain).toEqual({ code: 1, lines: all.lines.map((line) => line.replaceAll(/<\/?red>/g, "")) });
    terminal = {};
    expect(await colored(), "in a file, however standard error is shown").toEqual(plain);
  });

  it("gives them as JSON, as SARIF and as workflow commands", async () => {
    const line = WRONG.split("\n").findIndex((text) => text.includes("requestTimeout")) + 1;
    const json = JSON.parse((await validate(["-f", "-", "-o", "json"], WRONG)).out) as { findings: unknown };
    expect(json.findings).toContainEqual({
      severity: "error",
      code: "Malformed",
      message: expect.stringMatching(/^TrafficPolicy shop\/slow: /),
      file: "standard input",
      line,
    });
    const sarif = JSON.parse((await validate(["-f", "-", "-o", "sarif"], WRONG)).out) as {
      version: string;
      runs: { tool: { driver: { rules: { id: string }[] } }; results: { ruleId: string; ruleIndex: number; level: string }[] }[];
    };
    expect(sarif.version).toBe("2.1.0");
    const [run] = sarif.runs;
    for (const { ruleId, ruleIndex } of run?.results ?? []) expect(run?.tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
    expect(run?.results).toContainEqual(
      expect.objectContaining({
        ruleId: "Malformed",
        level: "error",
        locations: [{ physicalLocation: { artifactLocation: { uri: "standard%20input" }, region: { startLine: line } } }],
      }),
    );
    const { out } = await validate(["-f", "-", "-o", "github"], WRONG);
    expect(out).toMatch(new RegExp(`^::error file=standard input,line=${line},title=Malformed::TrafficPolicy shop/slow: `, "m"));
  });
  it("gives them as a code quality report of GitLab, in which a finding that only moves is the same", async () => {
    const { out, code } = await validate(["-f", "-", "-o", "gitlab"], WRONG);
    expect(code).toBe(1);
    const line = WRONG.split("\n").findIndex((text) => text.includes("requestTimeout")) + 1;
    const [issue] = JSON.parse(out);
    expect(issue).toEqual({
      description: expect.stringMatching(/^TrafficPolicy shop\/slow: spec\.policy\.requestTimeout: /),
      check_name: "Malformed",
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      severity: "major",
      location: { path: "standard input", lines: { begin: line } },
    });
    const [moved] = JSON.parse((await validate(["-f", "-", "-o", "gitlab"], `# A line\n${WRONG}`)).out);
    expect(moved).toEqual({ ...issue, location: { path: "standard input", lines: { begin: line + 1 } } });
    expect((await validate(["-f", "-", "-o", "gitlab"], DISCOVERED)).out).toBe("[]\n");
  });
  it("gives them as JUnit and as a table of Markdown, in which no text of others is markup", async () => {
    const hostile = `${DISCOVERED}---${policy("slow", "'<a href=x>&|[l](http://h) @all #1'")}`;
    const line = hostile.split("\n").findIndex((text) => text.includes("requestTimeout")) + 1;
    const { out: junit, code } = await validate(["-f", "-", "-o", "junit"], hostile);
    expect(code).toBe(1);
    expect(junit).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites>\n {2}<testsuite name="meshctl" tests="1" failures="1">\n/,
    );
    expect(junit).toContain(`<testcase classname="meshctl" name="Malformed" file="standard input" line="${line}"><failure type="error" `);
    expect(junit).toContain("&quot;&lt;a href=x&gt;&amp;|[l](http://h) @all #1&quot;");
    expect((await validate(["-f", "-", "-o", "junit"], DISCOVERED)).out).toContain('<testcase classname="meshctl" name="no findings"/>');
    const { out: table } = await validate(["-f", "-", "-o", "markdown"], hostile);
    expect(table).toMatch(
      /^\| severity \| code \| where \| finding \|\n\|---\|---\|---\|---\|\n\| error \| Malformed \| standard input:\d+ \| /,
    );
    expect(table).toContain('"&lt;a href=x&gt;&amp;\\|\\[l\\]\\(http&#58;//h\\) &#64;all &#35;1"');
    expect((await validate(["-f", "-", "-o", "markdown"], DISCOVERED)).out).toBe("No findings.\n");
  });
});
