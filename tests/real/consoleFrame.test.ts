import { isNight } from "@isthmus/testing/atNight";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser, PAGE_PATIENCE_MS } from "./harness/chromium.ts";
import { CONSOLE_PAGES, showConsolePage } from "./harness/consolePages.ts";
import { type LiveDemo, startLiveDemo } from "./harness/liveDemo.ts";
import { frameFaults } from "./harness/pageFrame.ts";

const WIDTHS = [1360, 1024, 768] as const;
const TABLES = [
  "/clusters",
  "/meshes",
  "/meshes/certificates",
  "/destinations",
  "/workloads",
  "/policies",
  "/topology?view=table",
  "/insights",
  "/insights?group=cluster",
  "/insights?view=changes",
  "/debug",
] as const;
const REJECTED = "/object/networking.mesh.gloo.solo.io/TrafficPolicy/_/bookinfo/ratings-canary";

describeInBrowser("the frame of the console's pages", (executablePath) => {
  let demo: LiveDemo;
  let browser: Browser;

  beforeAll(async () => {
    // Its sandbox needs rights that containers do not have; what it opens is ours.
    [demo, browser] = await Promise.all([startLiveDemo(), chromium.launch({ executablePath, args: ["--no-sandbox"] })]);
    // Pages are longest, and messages are, when something is wrong.
    demo.press("s");
    demo.press("b");
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  for (const colorScheme of isNight ? (["light", "dark"] as const) : (["light"] as const)) {
    it(`holds on each page at ${WIDTHS.join(", ")} pixels, ${colorScheme}`, { timeout: 600_000 }, async () => {
      const context = await browser.newContext({ colorScheme, viewport: { width: 1360, height: 860 }, reducedMotion: "reduce" });
      context.setDefaultTimeout(PAGE_PATIENCE_MS);
      const page = await context.newPage();
      await showConsolePage(page, demo.url, "/policies?q=state:rejected");
      await page.getByRole("link", { name: "ratings-canary" }).waitFor();
      const found: string[] = [];
      for (const path of [...CONSOLE_PAGES, REJECTED, `/policies?open=${REJECTED}`]) {
        await showConsolePage(page, demo.url, path);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 860 });
          found.push(...(await frameFaults(page)).map((fault) => `${path} at ${width}: ${fault}`));
        }
      }
      expect(found).toEqual([]);
      await context.close();
    });
  }

  it.each(WIDTHS)("says beside the table, without scrolling sideways, why a policy is rejected, at %i pixels", async (width) => {
    const context = await browser.newContext({ viewport: { width, height: 860 }, reducedMotion: "reduce" });
    context.setDefaultTimeout(PAGE_PATIENCE_MS);
    const page = await context.newPage();
    await showConsolePage(page, demo.url, `/policies?open=${REJECTED}`);
    const panel = page.getByRole("complementary", { name: "TrafficPolicy ratings-canary" });
    const reason = panel.getByRole("list", { name: "Conditions" }).getByText(/in cluster-9 not found/);
    await reason.waitFor();
    const [around, box] = [await panel.boundingBox(), await reason.boundingBox()];
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual((around?.x ?? 0) + (around?.width ?? 0));
    // It comes first, and a message of its length has a few lines.
    expect(box?.y).toBeLessThan((around?.y ?? 0) + 300);
    expect(box?.height).toBeLessThan(120);
    await context.close();
  });

  it.each(WIDTHS)("has room for the columns of each table, those that say least left out, at %i pixels", async (width) => {
    const context = await browser.newContext({ viewport: { width, height: 860 }, reducedMotion: "reduce" });
    context.setDefaultTimeout(PAGE_PATIENCE_MS);
    const page = await context.newPage();
    for (const path of [...TABLES, `/policies?open=${REJECTED}`]) {
      await showConsolePage(page, demo.url, path);
      await page.locator(".table").first().waitFor();
      const isWider = await page.evaluate("[...document.querySelectorAll('.table')].map((table) => table.scrollWidth - table.clientWidth)");
      expect([path, isWider]).toEqual([path, [0]]);
    }
    await showConsolePage(page, demo.url, "/policies");
    await page.getByRole("columnheader", { name: "Message" }).waitFor();
    expect(await page.getByRole("columnheader", { name: "Cluster" }).count()).toBe(0);
    // Who wants all of them has them.
    await page.getByRole("button", { name: /^Columns/ }).click();
    await page.getByRole("menuitem", { name: "All columns" }).click();
    await page.getByRole("columnheader", { name: "Cluster" }).waitFor();
    await context.close();
  });
});
