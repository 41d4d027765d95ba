import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { describeInBrowser } from "./harness/chromium.ts";
import { type ConsolePage, openConsolePage } from "./harness/consolePage.ts";
import { type LiveDemo, startLiveDemo } from "./harness/liveDemo.ts";
import { waitFor } from "./harness/waitFor.ts";

const POLICIES = "/object/networking.mesh.gloo.solo.io/TrafficPolicy/_/bookinfo";
const CLUSTER = "/object/multicluster.solo.io/KubernetesCluster/_/gloo-mesh/cluster-2";

describeInBrowser("clusters, policies and insights in detail, in a browser", (executablePath) => {
  let demo: LiveDemo;
  let browser: Browser;
  let page: Page;
  let takeProblems: ConsolePage["takeProblems"];

  beforeAll(async () => {
    demo = await startLiveDemo();
    ({ browser, page, takeProblems } = await openConsolePage(executablePath));
  });
  // A test that fails in its middle leaves what it made, by which the next one would fail.
  afterEach(() => demo.restore());
  afterEach(() => {
    expect(takeProblems()).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  async function show(path: string): Promise<void> {
    await page.goto(`${demo.url}${path}`);
    await page.waitForSelector("main h1");
  }

  /** What axe finds in both colour schemes, and how much wider than its place the page is at two widths. */
  async function faults(name: string): Promise<readonly string[]> {
    const found: string[] = [];
    for (const [colorScheme, width] of [
      ["light", 1280],
      ["dark", 768],
    ] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(axe.source);
      const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as {
        readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly failureSummary?: string }[] }[];
      };
      found.push(...violations.flatMap(({ id, nodes }) => nodes.map(({ failureSummary }) => `${colorScheme} ${id} ${failureSummary}`)));
      const wider = await page.evaluate("document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth");
      if (wider !== 0) found.push(`${name} is ${wider} pixels too wide at ${width}`);
      const { CONSOLE_SHOTS: folder } = process.env;
      if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}-${width}.png` });
    }
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await page.setViewportSize({ width: 1280, height: 800 });
    return found;
  }

  it("marks the version of each agent beside that of the server, and says what follows when a cluster does not answer", async () => {
    demo.press("s");
    await show("/clusters");
    const row = page.getByRole("row").filter({ hasText: "cluster-2" });
    await row.getByText("=", { exact: true }).waitFor();
    await page.getByText(/Management server \d+\.\d+\.\d+\. Agents are supported from two minor versions older/).waitFor();
    expect(await faults("clusters")).toEqual([]);
    await show(CLUSTER);
    await page.getByText("meshctl cluster diagnose cluster-2", { exact: true }).waitFor();
    expect(await page.getByRole("heading", { name: "Impact" }).count()).toBe(0);
    demo.press("a");
    const impact = page.getByRole("region", { name: "Impact" });
    const sender = impact.getByRole("row").filter({ has: page.getByRole("link", { name: "bookinfo/reviews-shift" }) });
    await sender.getByText("trafficShift, 25 %").waitFor();
    await sender.getByText("bookinfo/reviews", { exact: true }).first().waitFor();
    const host = impact.getByRole("row").filter({ hasText: "ratings.bookinfo.svc.cluster-2.global" });
    await host.getByText("100 %").waitFor();
    await host.getByText("nothing", { exact: true }).waitFor();
    await impact.getByText("Certificates that end within 30 days").waitFor();
    expect(await faults("impact")).toEqual([]);
    await impact
      .getByRole("link", { name: /Error|Warning|Info/ })
      .first()
      .click();
    await page.waitForURL(/\/insights\?q=cluster/);
    demo.press("a");
    await show(CLUSTER);
    await impact.waitFor({ state: "detached" });
    demo.press("u");
  });

  it("warns of agents that servers do not support, and of servers that differ", async () => {
    // As two replicas of other versions would say it.
    const servers = [{ version: "0.5.0", replicas: 1 }, { version: "0.4.0", replicas: 1 }, { replicas: 1 }];
    await page.route("**/api/v1/stream", async (route) => {
      const body = `event: reset\ndata: ${JSON.stringify({ kind: "store", name: "Redis", version: "0.4.0", namespace: "gloo-mesh" })}\n\nevent: ready\ndata: {}\n\nevent: clock\ndata: ${JSON.stringify(
        {
          now: new Date().toISOString(),
          at: new Date().toISOString(),
          clusters: [
            { name: "c1", at: null, phase: "synced", connected: true, version: "0.4.2" },
            { name: "c2", at: null, phase: "synced", connected: true, version: "0.1.0" },
            { name: "c3", at: null, phase: "synced", connected: true },
          ],
          servers,
        },
      )}\n\n`;
      await route.fulfill({ contentType: "text/event-stream", body });
    });
    await show("/clusters");
    await page.getByText(/different versions: 0\.5\.0 \(1\), 0\.4\.0 \(1\), one that does not say/).waitFor();
    await page.getByRole("row").filter({ hasText: "c1" }).getByText("(-1)").waitFor();
    const unsupported = page.getByRole("row").filter({ hasText: "c2" });
    await unsupported.getByText("(-4)").waitFor();
    await unsupported.getByText(/not supported by the management server/).waitFor();
    expect(await page.getByRole("row").filter({ hasText: "c3" }).getByText(/[=(]/).count()).toBe(0);
    expect(await faults("skew")).toEqual([]);
    await show("/clusters?q=agent:unsupported");
    await page.getByText("1 of 3 clusters").waitFor();
    await page.unroute("**/api/v1/stream");
  });

  it("shows how far each policy is, phase by phase, and filters and sorts by it", async () => {
    await show("/policies");
    demo.press("b");
    const rejected = page.getByRole("row").filter({ has: page.getByRole("link", { name: "ratings-canary" }) });
    await rejected.getByText("0/1", { exact: true }).waitFor();
    const mesh = page.getByRole("row").filter({ has: page.getByRole("link", { name: "bookinfo", exact: true }) });
    await mesh
      .getByText(/^[1-9]\d*\/[1-9]\d*$/)
      .first()
      .waitFor();
    await mesh
      .getByText(/^[1-9]\d*\/[1-9]\d*$/)
      .nth(2)
      .waitFor();
    expect(await faults("policies")).toEqual([]);
    await show("/policies?q=applied:no");
    await page.getByText("1 of 3 policies").waitFor();
    await rejected.waitFor();
    await show("/policies?q=delivered:yes&sort=applied");
    await mesh.waitFor();
    expect(await rejected.count()).toBe(0);
  });

  it("highlights the field that an insight is about, in the card and in the whole object", async () => {
    demo.press("b");
    await show("/insights/RTE1001");
    await page.getByText("Example", { exact: true }).waitFor();
    await page.getByRole("button", { name: /Evidence TrafficPolicy ratings-canary/ }).focus();
    await page.keyboard.press("Enter");
    const found = page.locator(".evidence .yaml-line[data-found]");
    await found.first().waitFor();
    expect((await found.allInnerTexts()).join("\n")).toContain("cluster-9");
    expect(await faults("evidence")).toEqual([]);
    await page.getByRole("link", { name: "In the whole object" }).click();
    await page.waitForURL(/tab=yaml/);
    await page.locator(".yaml-line[data-found]").first().waitFor();
    expect(await page.locator(".yaml-line:not([data-found])").count()).toBeGreaterThan(5);
    expect(await faults("field")).toEqual([]);
    demo.press("v");
    await page.getByText("This object is not in the snapshot.").waitFor();
  });

  it("shows before and after side by side, as the address says", async () => {
    demo.press("s");
    await show("/policies");
    await page.getByRole("link", { name: "reviews-shift" }).waitFor();
    await show(`${POLICIES}/reviews-shift?tab=generated&view=compared`);
    const toggle = page.getByRole("button", { name: "Side by side" }).first();
    await toggle.focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/diff=split/);
    const table = page.locator(".yaml-sides").first();
    await table.getByRole("columnheader", { name: "Before" }).waitFor();
    await table.locator('td[data-sign="+"]').filter({ hasText: "weight: 75" }).waitFor();
    expect(await faults("sides")).toEqual([]);
    await page.reload();
    await table.waitFor();
    await expect.poll(() => toggle.getAttribute("aria-pressed")).toBe("true");
    await toggle.click();
    await page.locator(".yaml pre").first().waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.has("diff")).toBe(false);
    const query = "group=networking.mesh.gloo.solo.io&kind=TrafficPolicy&cluster=&namespace=bookinfo&name=reviews-shift";
    // The demo keeps a moment every five seconds.
    await waitFor("a moment that has the policy", async () => {
      const answer = await fetch(`${demo.url}/api/v1/history/generations?${query}`);
      return ((await answer.json()) as { readonly generations: readonly object[] }).generations.length > 0;
    });
    await show(`${POLICIES}/reviews-shift?tab=events`);
    await page.getByRole("columnheader", { name: "By and because of" }).waitFor();
    expect(await faults("events")).toEqual([]);
    demo.press("u");
  });

  it("names the metrics of what only servers count", async () => {
    await show("/debug?view=sessions");
    await page.getByText("relay_server_revisions_acknowledged_total").waitFor();
    expect(await faults("debug")).toEqual([]);
  });
});
