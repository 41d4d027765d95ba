import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { describeInBrowser } from "./harness/chromium.ts";
import { type ConsolePage, openConsolePage } from "./harness/consolePage.ts";
import { type LiveDemo, startLiveDemo } from "./harness/liveDemo.ts";
import { MESHCTL } from "./harness/meshctl.ts";
import { waitFor } from "./harness/waitFor.ts";

describeInBrowser("what the console remembers, in a browser", (executablePath) => {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-records-"));
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
    rmSync(directory, { recursive: true });
  });

  async function show(path: string): Promise<void> {
    await page.goto(`${demo.url}${path}`);
    await page.waitForSelector("main h1");
  }

  async function faults(): Promise<readonly string[]> {
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as {
      readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly failureSummary?: string }[] }[];
    };
    return violations.flatMap(({ id, nodes }) => nodes.map(({ failureSummary }) => `${id} ${failureSummary}`));
  }

  const times = async () => ((await (await fetch(`${demo.url}/api/v1/history`)).json()) as { readonly times: readonly string[] }).times;

  /** The first moment that is remembered from now on. */
  async function nextMoment(): Promise<string> {
    const before = (await times()).at(-1) ?? "";
    await waitFor("the next moment", async () => ((await times()).at(-1) ?? "") > before);
    return (await times()).at(-1) ?? "";
  }

  it("says which insights are new since yesterday, and which are gone since an earlier time", async () => {
    await show("/insights?view=changes");
    await page.getByText(/Nothing is known of what was before \d\d:\d\d:\d\d, so the comparison begins there\./).waitFor();
    demo.press("b");
    const row = page.getByRole("row").filter({ hasText: "ratings-canary" }).first();
    await row.getByText("new", { exact: true }).waitFor();
    expect(await faults()).toEqual([]);
    await nextMoment();
    const at = await nextMoment();
    demo.press("v");
    await row.waitFor({ state: "detached" });
    await show(`/insights?view=changes&at=${encodeURIComponent(at)}`);
    await row.getByText("gone", { exact: true }).waitFor();
    expect(await faults()).toEqual([]);
    await page.getByRole("button", { name: "Now", exact: true }).click();
    await page.getByText(/so the comparison begins there/).waitFor();
    // It came and went within the time that is compared.
    await row.waitFor({ state: "detached" });
  });

  it("draws the trend as far back as it is known, and says so in words", async () => {
    await show("/");
    const trend = page.getByRole("region", { name: "Trend" });
    await trend
      .getByText(/Insights by severity over \d+ (s|min), suppressed ones included\. Nothing is known of what was before/)
      .waitFor();
    await trend.getByText(/Error: \d+, then 0 now; [1-9]\d* at most/).waitFor();
    await trend.getByText("As a table").click();
    await expect.poll(() => trend.getByRole("row").count()).toBe(30);
    expect(await faults()).toEqual([]);
  });

  it("shows how much changed from moment to moment, compares two of them, and saves one as a file", async () => {
    const before = await nextMoment();
    demo.press("t");
    await nextMoment();
    const after = await nextMoment();
    demo.press("s");
    await nextMoment();
    await show("/debug?view=snapshots");
    const grid = page.getByRole("group", { name: "Snapshots" });
    await grid.getByRole("columnheader", { name: "cluster-1" }).waitFor();
    const clockOf = (time: string) => new Date(time).toLocaleTimeString("en-GB");
    await grid.getByRole("radio", { name: `Compare from ${clockOf(before)}` }).check();
    await grid.getByRole("radio", { name: `Compare to ${clockOf(after)}` }).check();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      grid.getByRole("button", { name: `Save the fleet of ${clockOf(after)}` }).click(),
    ]);
    expect(await faults()).toEqual([]);
    await page.getByRole("link", { name: "Compare the two" }).click();
    await page.getByText(`What differs between ${clockOf(before)} and ${clockOf(after)}.`).waitFor();
    await page.getByRole("link", { name: "bookinfo/reviews-timeout" }).first().waitFor();
    // What was written later is no part of it.
    expect(await page.getByRole("link", { name: "bookinfo/reviews-shift" }).count()).toBe(0);
    await page.reload();
    await page.getByRole("link", { name: "bookinfo/reviews-timeout" }).first().waitFor();
    const file = join(directory, "fleet.json");
    await download.saveAs(file);
    const { stdout, status } = spawnSync(process.execPath, [MESHCTL, "insights", "-f", file, "-o", "json"], { encoding: "utf8" });
    expect([status, JSON.parse(stdout).insights.map(({ code }: { readonly code: string }) => code)]).toEqual([
      0,
      expect.arrayContaining(["RES1003", "FED1013"]),
    ]);
    demo.press("u");
    demo.press("d");
  });

  it("says how far each stage is, and tells when an agent goes and comes while the page is open", async () => {
    await show("/debug?view=pipeline");
    await page.getByText("2 of 2 agents are connected").waitFor();
    await show("/debug?view=sessions");
    const sessions = page.getByRole("group", { name: "Sessions of agents" });
    demo.press("a");
    const latest = sessions.getByRole("row").nth(1);
    await latest.filter({ hasText: "cluster-2" }).getByText("disconnected").waitFor();
    expect(await faults()).toEqual([]);
    await page.getByRole("button", { name: "Pipeline" }).click();
    await page.getByText("1 of 2 agents are connected").waitFor();
    demo.press("a");
    await page.getByText("2 of 2 agents are connected").waitFor();
    await show("/object/multicluster.solo.io/KubernetesCluster/_/gloo-mesh/cluster-2");
    await sessions.getByText("initial sync complete").first().waitFor();
    expect(await sessions.getByText("cluster-1").count()).toBe(0);
  });

  it("shows hostile names as text", async () => {
    const evil = `<img src=x onerror="self.wasHacked = true">\u202Egpj.exe${"very-long-".repeat(50)}`;
    const at = new Date().toISOString();
    const answers: readonly (readonly [string, object])[] = [
      ["history/changes", { moments: [at, new Date().toISOString()].map((time) => ({ at: time, clusters: [{ name: evil, count: 3 }] })) }],
      ["sessions", { since: at, events: [{ at, cluster: evil, what: "moved", detail: evil }] }],
    ];
    for (const [path, body] of answers) await page.route(`**/api/v1/${path}`, (route) => route.fulfill({ json: body }));
    for (const view of ["snapshots", "sessions"]) {
      await show(`/debug?view=${view}`);
      await page.locator("main").getByText("\\u202egpj.exe").first().waitFor();
      const wider = await page.evaluate("document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth");
      expect([view, wider]).toEqual([view, 0]);
      expect(await page.locator("main").innerText()).not.toContain("\u202E");
    }
    expect(await page.evaluate("[self.wasHacked, document.images.length]")).toEqual([false, 0]);
  });
});
