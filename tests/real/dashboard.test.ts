import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser, PAGE_PATIENCE_MS } from "./harness/chromium.ts";
import { clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { renderedObjects } from "./harness/helm.ts";
import { namespace as namespaceOf } from "./harness/istioInstallation.ts";
import { type KubeletPorts, startKubeletPorts } from "./harness/kubeletPorts.ts";
import { type LiveDemo, startLiveDemo } from "./harness/liveDemo.ts";
import { applyAll } from "./harness/manifests.ts";
import { waitFor } from "./harness/waitFor.ts";

const MESHCTL = fileURLToPath(new URL("../../apps/meshctl/bin/meshctl.js", import.meta.url));
const namespace = "gloo-mesh";
const UI = "gloo-mesh-ui";
const RBAC = "rbac.authorization.k8s.io/v1";
const DESTINATION = "reviews-bookinfo-cluster-1";

interface Answer {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

// The API server, its authorization and its proxying are real, and so is the console, that of the demo; a double of the kubelet's endpoint connects to it.
describeReal("meshctl dashboard, through a real API server to a real console", (components) => {
  let fleet: Fleet<"management">;
  let management: Cluster;
  let kubelet: KubeletPorts;
  let demo: LiveDemo;
  let opened: string;
  const programs = new Map<string, number>();
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    [fleet, demo] = await Promise.all([startFleet(components, ["management"]), startLiveDemo()]);
    management = clusterOf(fleet.servers.management, "");
    kubelet = await startKubeletPorts(programs);
    await applyAll(management, [
      namespaceOf(namespace),
      { apiVersion: "v1", kind: "Node", metadata: { name: "node" } },
    ] as unknown as readonly AnyResource[]);
    const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
    const daemonEndpoints = { kubeletEndpoint: { Port: kubelet.port } };
    await management.applyStatus(
      { apiVersion: "v1", kind: "Node", metadata: { name: "node" }, status: { addresses, daemonEndpoints } } as AnyResource,
      { fieldManager: "kubelet", force: true },
    );
    // In place of a browser: it writes down what it is given.
    const folder = join(fleet.directory, "bin");
    opened = join(fleet.directory, "opened");
    mkdirSync(folder);
    writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\nprintf '%s|' "$#" "$@" > "${opened}.part" && mv "${opened}.part" "${opened}"\n`);
    chmodSync(join(folder, "xdg-open"), 0o755);
  });
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await kubelet?.close();
    await Promise.all([demo?.stop(), fleet?.stop()]);
  });

  function start(args: readonly string[], kubeconfig = fleet.servers.management.kubeconfig) {
    const env = { PATH: `${join(fleet.directory, "bin")}:${process.env["PATH"] ?? ""}` };
    const child = spawn(process.execPath, [MESHCTL, "dashboard", "--kubeconfig", kubeconfig, "--port", "0", ...args], { env });
    children.push(child);
    const written = { out: "", err: "" };
    child.stdout.on("data", (data: Buffer) => (written.out += data.toString()));
    child.stderr.on("data", (data: Buffer) => (written.err += data.toString()));
    const ended = once(child, "close").then(([code]): Answer => ({ code: code as number | null, ...written }));
    return { child, written, ended };
  }

  /** In place of controllers and kubelet: a pod of the Deployment that runs, and whose console is that of the demo. */
  async function runPod(name: string, isReady = true): Promise<void> {
    const deployments = await renderedObjects({ components, chart: "gloo-mesh-mgmt-server" });
    const template = (deployments.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === UI) as unknown as Templated).spec
      .template;
    // The API server admits no pod of an account that no controller has made a token for.
    const { serviceAccountName: _, ...spec } = template.spec;
    const metadata = { name, namespace, labels: template.metadata.labels };
    await applyAll(management, [
      { apiVersion: "v1", kind: "Pod", metadata, spec: { ...spec, nodeName: "node" } } as unknown as AnyResource,
    ]);
    const conditions = [{ type: "Ready", status: isReady ? "True" : "False" }];
    await management.applyStatus(
      { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, status: { phase: "Running", conditions } } as AnyResource,
      {
        fieldManager: "kubelet",
        force: true,
      },
    );
    programs.set(`${namespace}/${name}:8090`, Number(new URL(demo.url).port));
  }

  it("says how the console is installed, and that its pod is not ready yet", async () => {
    expect(await start([]).ended).toMatchObject({ code: 2, out: "", err: expect.stringContaining("glooUi.enabled: true") });
    const rendered = await renderedObjects({ components, chart: "gloo-mesh-mgmt-server" });
    await applyAll(
      management,
      rendered.filter(({ metadata }) => metadata.name === UI),
    );
    expect(await start([]).ended).toMatchObject({ code: 2, err: expect.stringContaining(`Deployment ${namespace}/${UI} has no pods`) });
    await runPod("ui-a", false);
    expect(await start([]).ended).toMatchObject({ code: 2, err: expect.stringMatching(/no pod of .* is ready/) });
  });

  it("needs the permission for pods/portforward, and says so before it prints an address", async () => {
    await runPod("ui-a");
    const reader = join(fleet.directory, "reader");
    writeFileSync(reader, fleet.servers.management.strangerKubeconfig);
    const metadata = { name: "reader", namespace };
    const rules = [
      { apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
    ];
    const subjects = [{ kind: "User", name: "stranger", apiGroup: "rbac.authorization.k8s.io" }];
    await applyAll(management, [
      { apiVersion: RBAC, kind: "Role", metadata, rules },
      {
        apiVersion: RBAC,
        kind: "RoleBinding",
        metadata,
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
        subjects,
      },
    ] as unknown as readonly AnyResource[]);
    const { code, out, err } = await start([], reader).ended;
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/pods "ui-a" is forbidden: User "stranger" cannot .* resource "pods\/portforward"/);
    expect(kubelet.asked).toEqual([]);
  });

  describeInBrowser("in a browser", (executablePath) => {
    it.each([
      [["Destination", DESTINATION], "Destination"],
      [["Service", "bookinfo/reviews", "--cluster", "cluster-1"], "Service"],
    ])("shows the object of %j", async (args, kind) => {
      const { child, written, ended } = start(args);
      await waitFor(`an address (${written.err})`, () => written.out.endsWith("\n"));
      // Its sandbox needs rights that containers do not have; what it opens is ours.
      const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
      try {
        const page = await browser.newPage();
        page.setDefaultTimeout(PAGE_PATIENCE_MS);
        await page.goto(written.out.trim());
        await page.getByRole("tab", { name: "YAML" }).click();
        await page.getByText(`kind: ${kind}`).first().waitFor();
        expect(await page.getByText("This object is not in the snapshot.").count()).toBe(0);
      } finally {
        await browser.close();
      }
      child.kill("SIGTERM");
      expect(await ended).toMatchObject({ code: 0 });
    });
  });

  it("opens an object's page, follows the fleet, outlives its pod, and ends", async () => {
    const { child, written, ended } = start(["Destination", DESTINATION, "--open"]);
    await waitFor(`an address (${written.err})`, () => written.out.endsWith("\n"));
    const address = written.out.trim();
    expect(address).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/object\/discovery\.mesh\.gloo\.solo\.io\/Destination\/_\/gloo-mesh\/reviews-bookinfo-cluster-1$/,
    );
    await waitFor("a browser", () => existsSync(opened));
    expect(readFileSync(opened, "utf8")).toBe(`1|${address}|`);
    const page = await fetch(address);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")]);
    const stream = await fetch(new URL("/api/v1/stream", address));
    const events = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    await waitFor("the Destination", async () => {
      text += (await events?.read())?.value ?? "";
      return text.includes(`"name":"${DESTINATION}"`);
    });
    // Another name that leads to this machine, as a page elsewhere could give itself.
    expect(await statusOf(new URL("/api/v1/stream", address), "console.example")).toBe(421);
    programs.delete(`${namespace}/ui-a:8090`);
    const { apiVersion, kind } = { apiVersion: "v1", kind: "Pod" };
    await management.delete({ apiVersion, kind, name: "ui-a", namespace, clusterName: "" });
    await runPod("ui-b");
    // The pod that is being deleted refuses connections; those that were open before end with it.
    const answered = () => statusOf(new URL(address), "127.0.0.1").catch(() => undefined);
    await waitFor("the other pod", async () => (await answered()) === 200);
    expect(kubelet.asked.at(-1)).toBe(`${namespace}/ui-b:8090`);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 0 });
    await expect(fetch(address)).rejects.toThrow();
  });
});

interface Templated {
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: Readonly<Record<string, unknown>>;
    };
  };
}

function statusOf(url: URL, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host }, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}
