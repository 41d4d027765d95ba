import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Program } from "./harness/childProcess.ts";
import { describeInBrowser, PAGE_PATIENCE_MS } from "./harness/chromium.ts";
import { ciliumFleet } from "./harness/ciliumFleet.ts";
import { serveObjects } from "./harness/consolePage.ts";

describeInBrowser("the console, of what Cilium does", (executablePath) => {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-cilium-"));
  const programs: Program[] = [];
  let browser: Browser;
  let url: string;

  async function serve(name: string, items: readonly object[]): Promise<string> {
    const served = await serveObjects(directory, items, name);
    programs.push(served.program);
    return served.url;
  }

  beforeAll(async () => {
    [url, browser] = await Promise.all([
      serve("fleet", ciliumFleet()),
      // Its sandbox needs rights that containers do not have; what it opens is ours.
      chromium.launch({ executablePath, args: ["--no-sandbox"] }),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    for (const program of programs) await program.stop();
    rmSync(directory, { recursive: true });
  });

  async function open(address: string, { colorScheme = "light", width = 1280 }: { colorScheme?: "light" | "dark"; width?: number } = {}) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 }, reducedMotion: "reduce" });
    context.setDefaultTimeout(PAGE_PATIENCE_MS);
    const page = await context.newPage();
    await page.goto(address);
    await page.waitForSelector("main h1");
    return page;
  }

  async function faults(page: Page): Promise<readonly string[]> {
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as {
      readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly failureSummary?: string }[] }[];
    };
    return violations.flatMap(({ id, nodes }) => nodes.map(({ failureSummary }) => `${id} ${failureSummary}`));
  }

  it("says of each policy who made it, because of what, and what Cilium says of it", async () => {
    const page = await open(`${url}/access/cilium?sort=name`);
    const row = (name: string, more: string) =>
      page.locator(".table-body").getByRole("row").filter({ hasText: name }).filter({ hasText: more });
    await page.getByText("5 policies").waitFor();
    await page.getByText("AccessPolicies are enforced by Cilium as well.").waitFor();
    const cluster = page.getByRole("group", { name: "Clusters with Cilium" }).getByRole("row").nth(1);
    expect((await cluster.getByRole("cell").allInnerTexts()).map((text) => text.trim())).toEqual([
      "cluster-1",
      "1.18.4",
      "prod-1 · 1",
      "default",
      "no",
      "42",
      "3",
      "3",
      "2",
    ]);
    await page.getByText("cluster-1: cni-exclusive is not false").waitFor();
    const reviews = row("accesspolicy-reviews", "generated");
    await reviews.getByRole("link", { name: "bookinfo/reviews-callers" }).waitFor();
    await reviews.getByText("Accepted").waitFor();
    await reviews.getByText("1 of 2").waitFor();
    await row("batch", "by hand").getByText("Rejected").waitFor();
    await row("batch", "by hand").getByText("invalid rule <b>1</b>").waitFor();
    await row("baseline", "by hand").getByText("all").waitFor();
    // Of two with one name, that of the cluster is somebody's own, whatever it says of itself.
    await row("accesspolicy-details", "generated").getByText("Name is taken").waitFor();
    await row("accesspolicy-details", "by hand").waitFor();
    expect(await page.getByText("forged").count()).toBe(0);

    await page.getByRole("searchbox").fill("made:hand ns:bookinfo");
    await page.getByText("2 of 5 policies").waitFor();
    await page.getByRole("searchbox").fill("because:reviews-callers");
    await page.getByText("1 of 5 policies").waitFor();
    await page.getByRole("searchbox").fill("made:nobody");
    await page.getByText("No row matches the filter.").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await reviews.getByRole("link", { name: "bookinfo/reviews-callers" }).click();
    await page.getByRole("heading", { name: "reviews-callers" }).waitFor();
  });

  it("opens the one of two objects of a name whose row it is, and moves on from it by key", async () => {
    const page = await open(`${url}/access/cilium?sort=name`);
    const rows = page.locator(".table-body").getByRole("row");
    const row = (more: string) => rows.filter({ hasText: "accesspolicy-details" }).filter({ hasText: more });
    const opened = page.locator(".table-row[data-open]");
    await row("generated").getByRole("cell").nth(1).click();
    await page.locator(".side-panel").getByRole("heading", { name: "This object is generated" }).waitFor();
    await expect.poll(() => opened.allInnerTexts()).toEqual([expect.stringContaining("generated")]);
    await row("by hand").getByRole("cell").nth(1).click();
    await expect.poll(() => opened.allInnerTexts()).toEqual([expect.stringContaining("by hand")]);
    await page.locator(".side-panel").getByRole("link", { name: "YAML" }).waitFor();
    await rows.nth(2).getByRole("link").first().focus();
    await page.keyboard.press("Space");
    await expect.poll(() => opened.getAttribute("data-index")).toBe("2");
    await page.locator(".side-panel .panel-head h2").focus();
    await page.keyboard.press("j");
    await expect.poll(() => opened.getAttribute("data-index")).toBe("3");
    expect(await faults(page)).toEqual([]);
  });

  it("says to whom sees a part that what is compared is a part, and that Settings are not known", async () => {
    const viewer = { username: "ann", isPartial: true, missing: [], hasAllClusters: true, isExhausted: false };
    const source = { kind: "store", name: "redis", version: "0", namespace: "gloo-mesh" };
    const now = new Date().toISOString();
    const stranger = { apiVersion: "settings.mesh.gloo.solo.io/v1", kind: "Settings", metadata: { name: "settings", namespace: "a" } };
    const policy = {
      apiVersion: "networking.mesh.gloo.solo.io/v1",
      kind: "TrafficPolicy",
      metadata: { name: "shift", namespace: "bookinfo" },
    };
    const events: readonly (readonly [string, unknown])[] = [
      ["reset", source],
      ["viewer", viewer],
      ["change", { put: [{ ...stranger, spec: { cilium: { accessPolicies: "ENABLED" } } }, policy], remove: [] }],
      ["clock", { now, at: now, clusters: [] }],
      ["ready", {}],
    ];
    const body = events.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`).join("");
    const page = await open(url);
    await page.route("**/api/v1/stream", (route) => route.fulfill({ contentType: "text/event-stream", body }));
    await page.route("**/api/v1/history/moment*", (route) => route.fulfill({ contentType: "text/event-stream", body }));
    await page.goto(`${url}/access/cilium`);
    await page.getByText("Whether AccessPolicies are enforced by Cilium as well is not known").waitFor();
    await page.goto(`${url}/object/networking.mesh.gloo.solo.io/TrafficPolicy/_/bookinfo/shift?tab=generated&view=compared`);
    await page.getByText("this page translates what you see").waitFor();
    await page.goto(`${url}/changes?at=${encodeURIComponent(now)}`);
    await page.getByText("what differs of the rest is not shown").waitFor();
    expect(await faults(page)).toEqual([]);
  });

  it("shows what somebody else has under the name of a generated object, beside what is generated", async () => {
    const page = await open(`${url}/object/networking.mesh.gloo.solo.io/AccessPolicy/_/bookinfo/details-callers?tab=generated`);
    const item = page.locator(".generated-item").filter({ hasText: "CiliumNetworkPolicy" });
    await item.getByText("Name is taken").waitFor();
    await item.getByRole("button", { name: /Difference/ }).click();
    await item.getByText(/^-.*- cluster/).waitFor();
    await item.getByText(/^\+.*serviceaccount.*bookinfo-productpage/).waitFor();
    expect(await faults(page)).toEqual([]);
  });

  it("shows the endpoints that are reported", async () => {
    const page = await open(`${url}/access/cilium`);
    await page.getByRole("button", { name: "Endpoints 2" }).click();
    await page.getByText("2 endpoints").waitFor();
    await page.getByRole("searchbox").fill("enforced:no");
    await page.getByText("1 of 2 endpoints").waitFor();
    await page.getByRole("link", { name: "reviews-v2-abc" }).waitFor();
    const link = page.url();
    await page.goto(link);
    await page.getByText("1 of 2 endpoints").waitFor();
    await page.getByRole("link", { name: "reviews-v2-abc" }).click();
    await page.getByRole("heading", { name: "reviews-v2-abc" }).waitFor();
  });

  it("says why there is nothing, and what fills it", async () => {
    const isCilium = ({ kind }: { readonly kind?: string }) => kind?.startsWith("Cilium") === true;
    const quiet = ciliumFleet().filter(
      (object: { readonly kind?: string }) => !isCilium(object) && object.kind !== "AccessPolicy" && object.kind !== "Settings",
    );
    const page = await open(`${await serve("quiet", quiet)}/access/cilium`);
    await page.getByText("none is generated").waitFor();
    await page.getByText(/patch settings.*"accessPolicies":"AUDIT"/).waitFor();
    await page.getByRole("button", { name: "Endpoints 0" }).click();
    await page.getByText(/patch settings.*"endpoints":"FULL"/).waitFor();
    expect(await faults(page)).toEqual([]);
  });

  it.each(["light", "dark"] as const)("has nothing that axe finds fault with, %s, and fits", async (colorScheme) => {
    for (const path of ["/access/cilium", "/access/cilium?view=endpoints"]) {
      for (const width of [1280, 768]) {
        const page = await open(`${url}${path}`, { colorScheme, width });
        await page.waitForSelector(".table-body .table-row");
        expect(await faults(page)).toEqual([]);
        const wider = await page.evaluate("document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth");
        expect([path, width, wider]).toEqual([path, width, 0]);
        await page.context().close();
      }
    }
  });
});
