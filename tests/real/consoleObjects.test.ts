import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Program } from "./harness/childProcess.ts";
import { describeInBrowser } from "./harness/chromium.ts";
import { type ConsolePage, openConsolePage, serveObjects } from "./harness/consolePage.ts";

const GOLDEN = "packages/translators/testdata/virtualDestinations/local-pods-come-first-then-the-gateways-of-other-clusters.in.yaml";
const DISCOVERED = "/object/discovery.mesh.gloo.solo.io";
const MESH = "/object/networking.mesh.gloo.solo.io/VirtualMesh/_/gloo-mesh/mesh";
const EVIL = `<img src=x onerror="self.wasHacked=true">\u202E${"long-".repeat(60)}`;

interface Given {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly istio?: object; readonly kubeService?: object };
}

/** Two meshes, one of which has no address for others; nobody may call anything but what one policy allows; Sidecars of each level; and what is in no mesh. */
function fleet(): readonly object[] {
  const golden = parseAllDocuments(readFileSync(GOLDEN, "utf8")).map((document) => document.toJS() as Given);
  const changed = golden.map((object) => {
    if (object.kind === "Mesh")
      return { ...object, spec: { ...object.spec, istio: { ...object.spec.istio, trustDomain: object.metadata.name } } };
    if (object.kind === "VirtualMesh") return { ...object, spec: { ...object.spec, globalAccessPolicy: "ENABLED" } };
    if (object.metadata.name !== "gateway-istio-system-b") return object;
    return { ...object, spec: { ...object.spec, kubeService: { ...object.spec.kubeService, externalAddresses: [] } } };
  });
  const at = (namespace: string, clusterName: string, name: string) => ({ name, namespace, clusterName });
  const sidecar = (namespace: string, name: string, spec: object) => ({
    apiVersion: "networking.istio.io/v1",
    kind: "Sidecar",
    metadata: at(namespace, "a", name),
    spec,
  });
  const owned = (kind: string, name: string) => ({ ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid: name, controller: true }] });
  const pod = (name: string, owner: object) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...at("shop", "a", name), labels: { app: "legacy" }, ...owner },
    spec: { containers: [{ name: "main", image: "legacy:1" }] },
  });
  return [
    ...changed,
    {
      apiVersion: "networking.mesh.gloo.solo.io/v1",
      kind: "AccessPolicy",
      metadata: { name: "readers", namespace: "shop" },
      spec: {
        destinationSelector: [{ kubeServiceMatcher: { labels: { app: "cart" }, clusters: ["a"] } }],
        sourceSelector: [{ kubeServiceAccountRefs: { serviceAccounts: [at("shop", "a", "cart")] } }],
      },
    },
    sidecar("istio-system", "default", { egress: [{ hosts: ["./*", "istio-system/*"] }] }),
    sidecar("shop", "cart", { workloadSelector: { labels: { app: "cart" } }, egress: [{ hosts: ["shop/*", EVIL] }] }),
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", clusterName: "a", labels: { "istio-injection": "enabled" } } },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: at("shop", "a", "legacy"),
      spec: {
        replicas: 1,
        template: { metadata: { labels: { app: "legacy" } }, spec: { containers: [{ name: "main", image: "legacy:1" }] } },
      },
    },
    { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { ...at("shop", "a", "legacy-1"), ...owned("Deployment", "legacy") } },
    pod("legacy-1-x", owned("ReplicaSet", "legacy-1")),
    pod("nightly-x", { ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: EVIL, uid: "1", controller: true }] }),
  ];
}

describeInBrowser("pages of meshes, workloads and destinations", (executablePath) => {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-objects-"));
  let takeProblems: ConsolePage["takeProblems"];
  let program: Program | undefined;
  let browser: Browser;
  let page: Page;
  let url = "";

  beforeAll(async () => {
    ({ url, program } = await serveObjects(directory, fleet()));
    ({ browser, page, takeProblems } = await openConsolePage(executablePath));
  });
  afterEach(async () => {
    expect(await page.evaluate("[self.wasHacked, document.images.length]")).toEqual([false, 0]);
    expect(await page.locator("body").innerText()).not.toContain("\u202E");
    expect(takeProblems()).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await program?.stop();
    rmSync(directory, { recursive: true });
  });

  async function show(path: string): Promise<void> {
    await page.goto(`${url}${path}`);
    await page.waitForSelector("main h1");
  }

  /** What axe finds, in both themes, and whether anything is wider than the page. */
  async function faults(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(axe.source);
      const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as {
        readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly failureSummary?: string }[] }[];
      };
      found.push(...violations.flatMap(({ id, nodes }) => nodes.map(({ failureSummary }) => `${colorScheme} ${id} ${failureSummary}`)));
    }
    const wider = await page.evaluate("document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth");
    return wider === 0 ? found : [...found, `${wider} pixels too wide`];
  }

  it("says of a VirtualMesh how others reach each mesh, and which services nobody may call", async () => {
    await show(MESH);
    const gateways = page.locator(".gateways").getByRole("listitem");
    await gateways.filter({ hasText: "198.51.100.1:15443" }).getByText("a", { exact: true }).waitFor();
    const pending = gateways.filter({ hasText: "<pending>" });
    await pending.getByText("b", { exact: true }).waitFor();
    await pending.getByText("not reachable").waitFor();
    await pending.getByRole("link", { name: "FED1004" }).waitFor();
    // Nobody has counted anything, so nothing is said of traffic.
    expect(await page.getByText(/traffic within/).count()).toBe(0);
    await page.getByText(/^Enabled/).waitFor();
    await page.getByText("1 AccessPolicy").waitFor();
    const closed = page.getByText("1 of 4 destinations");
    await closed.click();
    await page.getByRole("link", { name: "b/shop/cart" }).waitFor();
    expect(await page.getByRole("link", { name: "a/shop/cart" }).count()).toBe(0);
    expect(await faults()).toEqual([]);
    await page.getByRole("link", { name: "b/shop/cart" }).click();
    // The page Access says the same.
    await page.getByText("Nobody may call b/shop/cart.").waitFor();
  });

  it("says of a workload whom it may call and who may call it, and which Sidecar applies", async () => {
    await show(`${DISCOVERED}/Workload/_/gloo-mesh/cart-shop-a-deployment`);
    const access = page.getByRole("region", { name: "Effective access" });
    await access.getByText("May call 2 of 4").click();
    await access.getByText("a/istio-system/gateway", { exact: true }).waitFor();
    await access.getByText("Not reachable", { exact: true }).waitFor();
    await access.getByText("May be called by 1 of 2").waitFor();
    const sidecar = page.getByRole("region", { name: "Sidecar scope" });
    await sidecar.getByText("A Sidecar that selects its pods decides").waitFor();
    await sidecar.getByRole("link", { name: "shop/cart" }).waitFor();
    await sidecar.getByText(/Hosts: shop\/\*, <img/).waitFor();
    expect(await sidecar.getByText("istio-system/*").count()).toBe(0);
    expect(await faults()).toEqual([]);
    // In the other cluster there is none.
    await show(`${DISCOVERED}/Workload/_/gloo-mesh/cart-shop-b-deployment`);
    await sidecar.getByText("No Sidecar applies").waitFor();
  });

  it("says of a Destination at a glance how many may call it, what is behind it, and what is generated where", async () => {
    await show(`${DISCOVERED}/Destination/_/gloo-mesh/cart-shop-a`);
    const glance = page.getByRole("region", { name: "At a glance" });
    await glance.getByText("cart.shop.svc.a.global").waitFor();
    await glance.getByText("May be called by 1 of 2").click();
    await glance.getByText("b/shop/cart").waitFor();
    await glance.getByText(/^\d+ objects \(.*AuthorizationPolicy.*\) in 2 clusters$/).waitFor();
    expect(await faults()).toEqual([]);
    await glance.getByRole("link", { name: "Matrix" }).click();
    await page.getByText("2 callers × 1 of 4 targets").waitFor();
  });

  it("lists what is in no mesh with why, and filters by it", async () => {
    await show("/workloads");
    await page.getByText("4 workloads").waitFor();
    await page.getByRole("searchbox", { name: "Filter" }).fill("mesh:none");
    await page.getByText("2 of 4 workloads").waitFor();
    const legacy = page.getByRole("row").filter({ hasText: "legacy" });
    await legacy.getByText("none · no sidecar despite injection").waitFor();
    await legacy.getByText("Warning").waitFor();
    await page.getByRole("row").filter({ hasText: "<img" }).getByText("none · no sidecar despite injection").waitFor();
    expect(await faults()).toEqual([]);
    await legacy.getByRole("link", { name: "legacy" }).click();
    await page.getByRole("tab", { name: /Insights 1/ }).click();
    await page.getByRole("link", { name: "CFG1007" }).waitFor();
    await show("/workloads?q=-mesh:none");
    await page.getByText("2 of 4 workloads").waitFor();
    expect(await page.getByRole("row").filter({ hasText: "legacy" }).count()).toBe(0);
  });
});
