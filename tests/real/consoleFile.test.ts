import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Program } from "./harness/childProcess.ts";
import { describeInBrowser } from "./harness/chromium.ts";
import { type ConsolePage, openConsolePage, serveObjects } from "./harness/consolePage.ts";
import { MESHCTL } from "./harness/meshctl.ts";

const GOLDEN = "packages/translators/testdata/virtualDestinations/local-pods-come-first-then-the-gateways-of-other-clusters.in.yaml";
const NETWORKING = "/object/networking.mesh.gloo.solo.io";
const ENTERPRISE = "/object/networking.enterprise.mesh.gloo.solo.io";
const CART = [{ kubeServiceMatcher: { labels: { app: "cart" } } }];
const caller = { name: "cart", namespace: "shop", clusterName: "a" };

function userObject(apiVersion: string, kind: string, name: string, spec: object): object {
  return { apiVersion, kind, metadata: { name, namespace: "shop" }, spec };
}

/** A service in two clusters with a VirtualDestination, one policy of each other kind, and a Deployment that wants to do harm: nothing has a status. */
function fleet(): readonly object[] {
  const golden = parseAllDocuments(readFileSync(GOLDEN, "utf8")).map(
    (document) => document.toJS() as { kind: string; metadata: { name: string }; spec: { istio?: object } },
  );
  const withTrustDomain = golden.map((object) =>
    object.kind === "Mesh"
      ? { ...object, spec: { ...object.spec, istio: { ...object.spec.istio, trustDomain: object.metadata.name } } }
      : object,
  );
  return [
    ...withTrustDomain,
    userObject("networking.mesh.gloo.solo.io/v1", "TrafficPolicy", "slow-answers-of-the-cart", {
      destinationSelector: CART,
      policy: { requestTimeout: "3s" },
    }),
    // Of the same age, and so decided by its name: it loses.
    userObject("networking.mesh.gloo.solo.io/v1", "TrafficPolicy", "z-fast", {
      destinationSelector: CART,
      policy: { requestTimeout: "1s", retries: { attempts: 2 } },
    }),
    userObject("networking.mesh.gloo.solo.io/v1", "AccessPolicy", "readers", {
      destinationSelector: CART,
      sourceSelector: [{ kubeServiceAccountRefs: { serviceAccounts: [caller] } }],
    }),
    userObject("networking.enterprise.mesh.gloo.solo.io/v1beta1", "ServiceDependency", "cart", { destinationSelectors: CART }),
    userObject("observability.enterprise.mesh.gloo.solo.io/v1", "AccessLogRecord", "all", {
      filters: [{ statusCodeMatcher: { value: 500, comparator: "GE" } }],
    }),
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: {
        name: "hostile",
        namespace: "shop",
        clusterName: "a",
        annotations: {
          long: "<img src=x onerror='self.wasHacked=true'>".repeat(25_000),
          "\u202Egpj.exe": "</pre><script>self.wasHacked = true</script>",
        },
      },
      spec: { replicas: 1 },
    },
  ];
}

describeInBrowser("the console, of manifests in a file", (executablePath) => {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-file-"));
  let takeProblems: ConsolePage["takeProblems"];
  let program: Program | undefined;
  let browser: Browser;
  let page: Page;
  let url = "";

  beforeAll(async () => {
    ({ url, program } = await serveObjects(directory, fleet()));
    ({ browser, page, takeProblems } = await openConsolePage(executablePath));
  });
  afterAll(async () => {
    await browser?.close();
    await program?.stop();
    rmSync(directory, { recursive: true });
    expect(takeProblems()).toEqual([]);
  });

  async function show(path: string): Promise<void> {
    await page.goto(`${url}${path}`);
    await page.waitForSelector("main h1");
  }

  async function faults(): Promise<readonly string[]> {
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as {
      readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly failureSummary?: string }[] }[];
    };
    return violations.flatMap(({ id, nodes }) => nodes.map(({ failureSummary }) => `${id} ${failureSummary}`));
  }

  it("says how each policy stands, although nothing in the file does", async () => {
    await show("/policies?q=state:accepted");
    await page.getByText("6 of 7 policies").waitFor();
    for (const path of [
      `${ENTERPRISE}/ServiceDependency/_/shop/cart`,
      "/object/observability.enterprise.mesh.gloo.solo.io/AccessLogRecord/_/shop/all",
    ]) {
      await show(path);
      await page.getByRole("heading", { name: "Targets · 2" }).waitFor();
      await page.getByRole("link", { name: "cart-shop-a-deployment" }).waitFor();
    }
  });

  it("shows the effect of every kind of policy", async () => {
    const panel = page.locator(".mantine-Tabs-panel");
    const cell = (text: string) => panel.getByRole("cell", { name: text, exact: true }).first();
    // Where requests to a VirtualDestination go now, and where when that fails.
    await show(`${ENTERPRISE}/VirtualDestination/_/gloo-mesh/cart?tab=effect`);
    await cell("a (1), then b (1)").waitFor();
    await cell("b (1), then a (1)").waitFor();
    await show(`${NETWORKING}/TrafficPolicy/_/shop/slow-answers-of-the-cart?tab=effect`);
    await cell("3s").waitFor();
    await show(`${NETWORKING}/AccessPolicy/_/shop/readers?tab=effect`);
    await panel
      .getByText(/shop\/cart in a/)
      .first()
      .waitFor();
    await show(`${NETWORKING}/VirtualMesh/_/gloo-mesh/mesh?tab=effect`);
    await page.getByRole("heading", { name: "Hosts in other clusters · 2" }).waitFor();
    await cell("cart.shop.svc.a.global").waitFor();
    expect(await faults()).toEqual([]);
    await show(`${ENTERPRISE}/ServiceDependency/_/shop/cart?tab=effect`);
    await page.getByRole("heading", { name: "Hosts that proxies know" }).waitFor();
    await panel
      .getByText(/cart\.shop\.svc\.cluster\.local/)
      .first()
      .waitFor();
    expect(await faults()).toEqual([]);
    await show("/object/observability.enterprise.mesh.gloo.solo.io/AccessLogRecord/_/shop/all?tab=effect");
    await page.getByText("Objects of this kind set nothing that a request meets by itself.").waitFor();
  });

  it("leads from a workload and from a service to who may call whom", async () => {
    await show("/object/discovery.mesh.gloo.solo.io/Workload/_/gloo-mesh/cart-shop-b-deployment");
    await page.getByRole("link", { name: "What it may call" }).click();
    await page.getByText("1 of 2 callers × 4 targets").waitFor();
    await page.getByRole("link", { name: "no host b/shop/cart → a/istio-system/gateway" }).waitFor();
    await show("/object/discovery.mesh.gloo.solo.io/Destination/_/gloo-mesh/cart-shop-a");
    await page.getByRole("link", { name: "Who may call it" }).click();
    await page.getByText("2 callers × 1 of 4 targets").waitFor();
    await page.getByRole("link", { name: "yes a/shop/cart → a/shop/cart" }).waitFor();
  });

  it("puts a policy that is rejected beside what is in force, and the address has it", async () => {
    await show("/object/discovery.mesh.gloo.solo.io/Destination/_/gloo-mesh/cart-shop-a");
    await page.getByRole("button", { name: "Compare with what is in force" }).click();
    const row = (name: string) => page.getByRole("group", { name: "Here and in force" }).getByRole("row").filter({ hasText: name });
    await row("requestTimeout").getByRole("cell", { name: "1s", exact: true }).waitFor();
    await row("requestTimeout").getByRole("link", { name: "shop/slow-answers-of-the-cart" }).waitFor();
    await row("requestTimeout").getByText("differs").waitFor();
    expect(await faults()).toEqual([]);
    await page.reload();
    await row("retries").getByRole("cell", { name: "attempts 2" }).waitFor();
    await page.getByRole("button", { name: "Close the comparison" }).click();
    await row("retries").waitFor({ state: "detached" });
  });

  it("shows beside the table which policy sets a value, without scrolling", async () => {
    await show("/destinations?open=/object/discovery.mesh.gloo.solo.io/Destination/_/gloo-mesh/cart-shop-a");
    const panel = page.getByRole("complementary");
    const [link, around] = await Promise.all([
      panel.getByRole("link", { name: "shop/slow-answers-of-the-cart" }).boundingBox(),
      panel.getByRole("group", { name: "Effective routing" }).boundingBox(),
    ]);
    expect(link?.width).toBeGreaterThan(20);
    expect((link?.x ?? 9_999) + (link?.width ?? 0)).toBeLessThanOrEqual((around?.x ?? 0) + (around?.width ?? 0));
  });

  it("says what a policy of every kind would do", async () => {
    const kinds = [
      `${NETWORKING}/TrafficPolicy/_/shop/slow-answers-of-the-cart`,
      `${NETWORKING}/AccessPolicy/_/shop/readers`,
      `${NETWORKING}/VirtualMesh/_/gloo-mesh/mesh`,
      `${ENTERPRISE}/VirtualDestination/_/gloo-mesh/cart`,
      `${ENTERPRISE}/ServiceDependency/_/shop/cart`,
      "/object/observability.enterprise.mesh.gloo.solo.io/AccessLogRecord/_/shop/all",
    ];
    for (const path of kinds) {
      await show(`/policies/what-if?of=${encodeURIComponent(path)}`);
      await page.locator(".what-if-result").getByText("Accepted", { exact: true }).first().waitFor();
      // As it is what is there, nothing follows from it.
      await page.getByText("No object in a cluster would change.").waitFor();
    }
  });

  it("saves insights as meshctl prints them", async () => {
    await show("/insights");
    const saved = async (format: string): Promise<string> => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: `Save ${format}` }).click()]);
      return readFileSync(await download.path(), "utf8");
    };
    const printed = (...args: readonly string[]): string =>
      spawnSync(process.execPath, [MESHCTL, "insights", "-f", join(directory, "fleet.json"), ...args], { encoding: "utf8" }).stdout;
    // Of files, meshctl knows lines; of a console it is known since when something is there.
    const insights = ({ insights: all }: { insights: readonly Record<string, unknown>[] }) =>
      all.map(({ file: _, line: __, since: ___, ...insight }) => JSON.stringify(insight, Object.keys(insight).sort())).sort();
    const [own, others] = [JSON.parse(await saved("JSON")), JSON.parse(printed("-o", "json"))];
    expect(own.insights.length).toBeGreaterThan(1);
    expect(insights(own)).toEqual(insights(others));
    const results = ({ runs: [run] }: { runs: { results: { ruleId: string; level: string; message: { text: string } }[] }[] }) =>
      (run?.results ?? []).map(({ ruleId, level, message }) => `${ruleId} ${level} ${message.text}`).sort();
    const [ownLog, otherLog] = [JSON.parse(await saved("SARIF")), JSON.parse(printed("-o", "sarif", "--suppressed"))];
    expect(results(ownLog)).toEqual(results(otherLog));
    expect(ownLog.runs[0].tool.driver.rules).toEqual(otherLog.runs[0].tool.driver.rules);
    await show("/insights?view=changes");
    await page.getByText("A saved fleet is one moment: it does not say what was found before.").waitFor();
    await show("/debug?view=snapshots");
    await page.getByText("A saved fleet is one moment.").waitFor();
    await show("/debug?view=sessions");
    await page.getByText("A saved fleet has no agents.").waitFor();
  });

  it("shows a megabyte of an annotation, and marks that change the direction of text, as text", async () => {
    for (const tab of ["yaml", "summary", "events"]) {
      await show(`/object/apps/Deployment/a/shop/hostile?tab=${tab}`);
      if (tab === "yaml")
        await page
          .locator(".yaml")
          .getByText(/\\u202egpj\.exe/i)
          .first()
          .waitFor();
      const wider = await page.evaluate("document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth");
      expect([tab, wider]).toEqual([tab, 0]);
    }
    expect(await page.evaluate("[self.wasHacked, document.images.length]")).toEqual([false, 0]);
    expect(await page.locator("body").innerText()).not.toContain("\u202E");
  });
});
