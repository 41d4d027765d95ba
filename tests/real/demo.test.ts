import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeReal } from "./harness/describeReal.ts";
import { type LiveDemo, startLiveDemo } from "./harness/liveDemo.ts";
import { MESHCTL } from "./harness/meshctl.ts";

const labels = { app: "shop" };
const shop = [
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "shop", namespace: "bookinfo" },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "shop", image: "example.com/shop:1", ports: [{ containerPort: 8080 }] }] },
      },
    },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "shop", namespace: "bookinfo" },
    spec: { selector: labels, ports: [{ name: "http", port: 8080 }] },
  },
];

describeReal("the demo's clusters, with kubectl and meshctl", (components) => {
  let folder = "";
  let demo: LiveDemo | undefined;
  const kubeconfig = () => join(folder, ".isthmus/kubeconfig");

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "isthmus-demo-"));
    demo = await startLiveDemo(folder);
  });
  afterAll(async () => {
    await demo?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(command: string, args: readonly string[], input?: object): Promise<string> {
    const env = { PATH: process.env["PATH"] ?? "", HOME: join(folder, "home"), COLUMNS: "200" };
    const child = execFile(command, args, { cwd: folder, env });
    child.stdin?.end(input === undefined ? "" : JSON.stringify(input));
    let text = "";
    const heard = (data: string): void => {
      text += data;
    };
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", heard);
    const code = await new Promise((resolve) => child.once("close", resolve));
    return code === 0 ? text : `exit code ${String(code)}: ${text}`;
  }
  const kubectl = (context: string, args: readonly string[], input?: object) =>
    run(components.kubectl, [`--kubeconfig=${kubeconfig()}`, `--context=${context}`, ...args], input);

  it("are reached by a kubeconfig of their own, that nobody else may read", async () => {
    expect(statSync(kubeconfig()).mode & 0o777).toBe(0o600);
    expect(await kubectl("mgmt", ["config", "get-contexts", "-o", "name"])).toBe("cluster-1\ncluster-2\nmgmt\n");
    expect(await kubectl("cluster-1", ["get", "pods", "-n", "bookinfo"])).toMatch(/productpage-v1-\S+ +2\/2 +Running/);
    expect(await kubectl("mgmt", ["get", "virtualmeshes", "-A"])).toContain("bookinfo");
  });

  it("run what is applied to them, and the management plane discovers it", async () => {
    const made = await kubectl("cluster-1", ["apply", "-f", "-"], { apiVersion: "v1", kind: "List", items: shop });
    expect(made).toBe("deployment.apps/shop created\nservice/shop created\n");
    expect(await kubectl("cluster-1", ["-n", "bookinfo", "rollout", "status", "deployment/shop", "--timeout=30s"])).toContain(
      "successfully rolled out",
    );
    await expect
      .poll(() => kubectl("cluster-1", ["-n", "bookinfo", "get", "pods", "-l", "app=shop", "--no-headers"]))
      .toMatch(/Running.*\n.*Running/);
    await expect.poll(() => kubectl("mgmt", ["-n", "gloo-mesh", "get", "destinations", "-o", "name"])).toContain("shop-bookinfo-cluster-1");
  });

  it("show how a generated object that somebody deletes comes again", async () => {
    const place = ["-n", "istio-system", "get", "serviceentries", "-o", "name"];
    const [entry = ""] = (await kubectl("cluster-1", place)).split("\n").filter((name) => name.includes("reviews"));
    const uid = () => kubectl("cluster-1", ["-n", "istio-system", "get", entry, "-o", "jsonpath={.metadata.uid}"]);
    const before = await uid();
    expect(await kubectl("cluster-1", ["-n", "istio-system", "delete", entry])).toContain("deleted");
    await expect.poll(async () => /^[0-9a-f-]{36}$/.test(await uid())).toBe(true);
    expect(await uid()).not.toBe(before);
  });

  it("are found by meshctl under the names of their contexts", async () => {
    expect(await run(process.execPath, [MESHCTL, "get", "clusters", "--context", "mgmt"])).toMatch(/cluster-1/);
  });

  it("leave no kubeconfig behind", async () => {
    await demo?.stop();
    expect(existsSync(kubeconfig())).toBe(false);
  });
});
