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

  it.each(WIDTHS)("fills each row of the overview's totals, at %i pixels", async (width) => {
    const context = await browser.newContext({ viewport: { width, height: 860 }, reducedMotion: "reduce" });
    context.setDefaultTimeout(PAGE_PATIENCE_MS);
    const page = await context.newPage();
    await showConsolePage(page, demo.url, "/");
    await page.locator(".tile").first().waitFor();
    const rows = (await page.evaluate(TILE_ROWS)) as readonly { readonly count: number; readonly left: number }[];
    expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(7);
    // No row has room left at its end, and none a tile alone.
    expect(rows.filter(({ count, left }) => count < 2 || left > 1)).toEqual([]);
    await context.close();
  });

  it("puts no label of the graph over a service, and no two over each other", async () => {
    const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, reducedMotion: "reduce" });
    context.setDefaultTimeout(PAGE_PATIENCE_MS);
    const page = await context.newPage();
    for (const path of ["/topology", "/topology?box=cluster%3Enamespace", "/topology?box=none"]) {
      await showConsolePage(page, demo.url, path);
      await page.locator(".traffic .react-flow__edge-textbg").nth(4).waitFor();
      expect([path, await page.evaluate(COVERED)]).toEqual([path, []]);
    }
    await context.close();
  });

  it("gives sentences about the members of a VirtualMesh the width of the page, while its root is replaced", async () => {
    demo.press("r");
    const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, reducedMotion: "reduce" });
    context.setDefaultTimeout(PAGE_PATIENCE_MS);
    const page = await context.newPage();
    await showConsolePage(page, demo.url, "/object/networking.mesh.gloo.solo.io/VirtualMesh/_/gloo-mesh/bookinfo");
    const members = page.getByRole("group", { name: "Members" });
    const sentence = members.getByText(/is at step TRUST_BOTH/).first();
    await sentence.waitFor();
    expect((await sentence.boundingBox())?.height).toBeLessThan(100);
    expect((await members.boundingBox())?.height).toBeLessThan(400);
    await context.close();
  });
});

/** The rows of tiles: how many there are in each, and how many pixels are free after the last one. */
const TILE_ROWS = `(() => {
  const edge = document.querySelector(".tiles").getBoundingClientRect().right;
  const rows = new Map();
  for (const tile of document.querySelectorAll(".tile")) {
    const { top, right } = tile.getBoundingClientRect();
    const { count = 0 } = rows.get(top) ?? {};
    rows.set(top, { count: count + 1, left: edge - right });
  }
  return [...rows.values()];
})()`;

/** What labels of edges lie over: services and other labels. */
const COVERED = `(() => {
  const boxes = (selector) => [...document.querySelectorAll(selector)].map((one) => [one, one.getBoundingClientRect()]);
  const labels = boxes(".react-flow__edge-textwrapper");
  const text = (one) => one.textContent.slice(0, 40);
  return labels.flatMap(([label, a]) =>
    [...boxes(".service-node"), ...labels].flatMap(([other, b]) => {
      const isOver = label !== other && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
      return isOver ? [text(label) + " over " + text(other)] : [];
    }),
  );
})()`;
