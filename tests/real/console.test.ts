import { readFileSync } from "node:fs";
import { isNight } from "@isthmus/testing/atNight";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { describeInBrowser, PAGE_PATIENCE_MS } from "./harness/chromium.ts";
import { DESTINATION_PATH as DESTINATION, CONSOLE_PAGES as PAGES, showConsolePage } from "./harness/consolePages.ts";
import { type LiveDemo, startLiveDemo } from "./harness/liveDemo.ts";

const POLICY = (name: string, rule: string) => `apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata:
  name: ${name}
  namespace: bookinfo
spec:
  destinationSelector:
  - kubeServiceRefs:
      services:
      - {name: reviews, namespace: bookinfo, clusterName: cluster-1}
  policy:
    ${rule}
`;

const READERS = `apiVersion: networking.mesh.gloo.solo.io/v1
kind: AccessPolicy
metadata:
  name: readers
  namespace: bookinfo
spec:
  destinationSelector:
  - kubeServiceRefs:
      services:
      - {name: reviews, namespace: bookinfo, clusterName: cluster-1}
  sourceSelector:
  - kubeServiceAccountRefs:
      serviceAccounts:
      - {name: bookinfo-productpage, namespace: bookinfo, clusterName: cluster-1}
  allowedMethods: [GET]
`;

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
  }[];
}

describeInBrowser("the console in a browser", (executablePath) => {
  let demo: LiveDemo;
  let browser: Browser;
  let problems: string[] = [];

  beforeAll(async () => {
    // Its sandbox needs rights that containers do not have; what it opens is ours.
    [demo, browser] = await Promise.all([startLiveDemo(), chromium.launch({ executablePath, args: ["--no-sandbox"] })]);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });
  // A test that fails in its middle leaves what it made, by which the next one would fail.
  afterEach(() => demo.restore());
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    expect(problems).toEqual([]);
    problems = [];
  });

  interface OpenOptions {
    readonly colorScheme?: "light" | "dark";
    readonly width?: number;
  }

  /** A page whose errors, refused styles and scripts included, fail the test. */
  async function open(path: string, { colorScheme = "light", width = 1280 }: OpenOptions = {}): Promise<Page> {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 }, reducedMotion: "reduce" });
    await context.addInitScript("self.wasHacked = false");
    context.setDefaultTimeout(PAGE_PATIENCE_MS);
    const page = await context.newPage();
    page.on("pageerror", (error) => problems.push(`${path}: ${error.message}`));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) problems.push(`${path}: ${message.text()}`);
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(demo.url) && !request.url().startsWith("data:")) problems.push(`${path}: asks ${request.url()}`);
    });
    await show(page, path);
    return page;
  }

  /** Has a page read these events, once. Such an answer ends at once: did the browser ask again, rows would be replaced while they are clicked. */
  async function answerStream(page: Page, events: readonly (readonly [string, unknown])[]): Promise<void> {
    const lines = events.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    await page.route("**/api/v1/stream", (route) =>
      route.fulfill({ contentType: "text/event-stream", body: ["retry: 3600000\n\n", ...lines].join("") }),
    );
  }

  const show = (page: Page, path: string): Promise<void> => showConsolePage(page, demo.url, path);

  /** What axe finds on a page as it is now. */
  async function faults(page: Page, where: string): Promise<readonly string[]> {
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as AxeResult;
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${where} ${id} ${target.join(" ")} ${failureSummary}`),
    );
  }

  for (const colorScheme of isNight ? (["light", "dark"] as const) : (["light"] as const)) {
    it(`has no page that axe finds fault with, ${colorScheme}`, { timeout: 300_000 }, async () => {
      const page = await open("/", { colorScheme });
      for (const path of PAGES) {
        await show(page, path);
        expect(await faults(page, path)).toEqual([]);
      }
      await show(page, `${DESTINATION}/reviews-bookinfo-cluster-1`);
      await page.getByRole("button", { name: /^Copy/ }).click();
      await page.getByRole("menuitem").first().waitFor();
      expect(await faults(page, "the menu")).toEqual([]);
      await page.keyboard.press("Escape");
      await page.keyboard.press("/");
      await page.keyboard.type("reviews");
      await page.getByRole("option").first().waitFor();
      expect(await faults(page, "the search")).toEqual([]);
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
      expect(await faults(page, "the keyboard map")).toEqual([]);
    });
  }

  it.each(isNight ? [1280, 768] : [768])("fits into %i pixels", { timeout: 180_000 }, async (width) => {
    const page = await open("/", { width });
    for (const path of PAGES) {
      await show(page, path);
      const wider = await page.evaluate(
        "[document.documentElement, document.querySelector('main')].map((each) => each.scrollWidth - each.clientWidth)",
      );
      expect([path, wider]).toEqual([path, [0, 0]]);
    }
  });

  it("shows a policy that is rejected, where and why, while the page is open", async () => {
    const page = await open("/policies");
    await page.getByRole("status").filter({ hasText: "policies" }).waitFor();
    expect(await page.getByText("ratings-canary").count()).toBe(0);
    demo.press("b");
    await page.getByRole("link", { name: "ratings-canary" }).waitFor();
    await page.goto(`${demo.url}/policies?q=state:rejected`);
    await page.getByText("1 of 3 policies").waitFor();
    await page.getByRole("link", { name: "ratings-canary" }).click();
    const main = page.locator("main");
    await main
      .getByText(/Destination for service bookinfo\/ratings in cluster-9 not found/)
      .first()
      .waitFor();
    await main.getByRole("tab", { name: /Insights 1/ }).click();
    await main.getByRole("link", { name: "RTE1001" }).click();
    await main.getByRole("heading", { name: "RTE1001 Target does not exist" }).waitFor();
    await main.getByText("Each request of the route is answered with 503").waitFor();
    await main.getByText("correct the service, or create it").first().waitFor();
    await main.getByText("meshctl insights explain RTE1001").waitFor();
    await main.getByText('isthmus.mesh/suppress-insights: "RTE1001 until YYYY-MM-DD: REASON"').waitFor();
    await show(page, `${DESTINATION}/ratings-bookinfo-cluster-1`);
    await main.getByRole("heading", { name: "Rejected here" }).waitFor();
    // Nothing in force is about the same.
    expect(await main.getByRole("button", { name: "Compare with what is in force" }).count()).toBe(0);
    demo.press("v");
    await main.getByRole("heading", { name: "Rejected here" }).waitFor({ state: "detached" });
  });

  it("says of each routed value which policy set it, and what is generated of it", async () => {
    demo.press("s");
    const page = await open(`${DESTINATION}/reviews-bookinfo-cluster-1`);
    const routing = page.getByRole("region", { name: "Effective routing" }).first();
    await routing.getByText("75 % → bookinfo/reviews in cluster-1 · 25 % → bookinfo/reviews in cluster-2").waitFor();
    await routing.getByRole("link", { name: "bookinfo/reviews-shift" }).click();
    await page.getByRole("heading", { name: "reviews-shift" }).waitFor();
    await page.getByRole("tab", { name: /Generated/ }).click();
    await page.getByRole("button", { name: /VirtualService .* cluster-2/ }).click();
    await page.locator(".yaml").getByText("kind: VirtualService").waitFor();
    const item = page.locator(".generated-item").filter({ hasText: "VirtualService" }).filter({ hasText: "cluster-2" });
    await item.getByText("Applied", { exact: true }).first().waitFor();
    expect(await faults(page, "generated")).toEqual([]);
    await page.getByRole("button", { name: "Before and after" }).click();
    await page.getByRole("heading", { name: "Without it, and with it · 2" }).waitFor();
    await page
      .locator(".yaml")
      .getByText(/^\+.*weight: 75/)
      .first()
      .waitFor();
    expect(await faults(page, "before and after")).toEqual([]);
    await page.reload();
    await page.getByRole("heading", { name: /Without it, and with it/ }).waitFor();
    await show(page, "/topology?view=table&q=type:routing");
    await page.getByRole("cell", { name: "25 %" }).waitFor();
    await show(page, "/object/networking.mesh.gloo.solo.io/VirtualMesh/_/gloo-mesh/bookinfo?tab=effect");
    const host = page.getByRole("row").filter({ hasText: "reviews.bookinfo.svc.cluster-1.global" });
    await host.getByText("75 % → reviews.bookinfo.svc.cluster-1.global: cluster-1 (2)").waitFor();
    await host.getByText("25 % → reviews.bookinfo.svc.cluster.local: cluster-2 (1)").waitFor();
    await show(page, "/topology?view=table&q=type:routing");
    demo.press("u");
    await page.getByText("No row matches the filter.").waitFor();
  });

  it("shows what requests meet and where they go, each value with its policy, for a Destination and for a policy", async () => {
    demo.press("s");
    const page = await open(`${DESTINATION}/reviews-bookinfo-cluster-1?tab=effect`);
    const here = page.getByRole("region", { name: "From cluster-1, as reviews.bookinfo.svc.cluster.local" });
    const route = here.getByRole("row").filter({ hasText: "75 % → reviews.bookinfo.svc.cluster.local" });
    await route.getByRole("link", { name: "bookinfo/reviews-shift" }).waitFor();
    // The demo takes a key when it has done what the one before asked.
    demo.press("t");
    await here.getByRole("row").filter({ hasText: "timeout" }).getByRole("link", { name: "bookinfo/reviews-timeout" }).first().waitFor();
    await here.getByRole("row").filter({ hasText: "reviews.bookinfo.svc.cluster-2.global" }).getByText("cluster-2 (1)").waitFor();
    const there = page.getByRole("region", { name: "From cluster-2, as reviews.bookinfo.svc.cluster-1.global" });
    await there.getByRole("row").filter({ hasText: "ISTIO_MUTUAL" }).getByText("default").waitFor();
    // Within the cluster Istio knows itself.
    expect(await here.getByRole("row").filter({ hasText: "ISTIO_MUTUAL" }).count()).toBe(0);
    expect(await faults(page, "effect")).toEqual([]);
    await route.getByRole("link", { name: "bookinfo/reviews-shift" }).click();
    await page.getByRole("tab", { name: "Effect" }).click();
    await page
      .getByRole("cell", { name: /75 % → reviews/ })
      .first()
      .waitFor();
    // What another policy sets is not this one's.
    expect(await page.getByRole("cell", { name: "timeout" }).count()).toBe(0);
    demo.press("u");
    await page.getByText("This object is not in the snapshot.").waitFor();
    await show(page, "/policies");
    demo.press("d");
    await page.getByRole("link", { name: "reviews-timeout" }).waitFor({ state: "detached" });
  });

  it("draws clusters beside each other, and a click on what connects them leads to the policy behind it", async () => {
    const page = await open("/topology");
    const boxes = page.locator(".cluster-node");
    await boxes.nth(1).waitFor();
    // The graph is laid out again while they are looked at.
    const beside = () =>
      expect
        .poll(async () => {
          const [left, right] = (await Promise.all([boxes.nth(0).boundingBox(), boxes.nth(1).boundingBox()])).sort(
            (a, b) => (a?.x ?? 0) - (b?.x ?? 0),
          );
          return (left?.x ?? 0) + (left?.width ?? 0) < (right?.x ?? 0);
        })
        .toBe(true);
    await beside();
    demo.press("s");
    await page.locator(".route .react-flow__edge-path").waitFor({ state: "attached" });
    await beside();
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "SVG" }).click()]);
    const svg = readFileSync(await saved.path(), "utf8");
    for (const name of ["cluster-1", "cluster-2", "reviews", "25 %"]) expect(svg).toContain(`>${name}</text>`);
    // It is a picture that browsers take.
    await page.evaluate(
      `new Promise((done, failed) => Object.assign(new Image(), { onload: done, onerror: failed, src: "data:image/svg+xml," + encodeURIComponent(${JSON.stringify(svg)}) })).then(() => undefined)`,
    );
    await page.locator(".route .react-flow__edge-textbg").click();
    await page.getByRole("heading", { name: "reviews-shift" }).waitFor();
    demo.press("u");
    await page.getByText("This object is not in the snapshot.").waitFor();
  });

  it("boxes, finds and hides parts of the graph, and the address and the table have all of it", async () => {
    const page = await open("/topology");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    demo.press("s");
    await page.locator(".route .react-flow__edge-path").waitFor({ state: "attached" });
    // What proxies count is of no concern here.
    await page.getByRole("button", { name: "traffic", exact: true }).click();
    await page.getByLabel("Boxes").selectOption("cluster>namespace");
    const namespaces = page.locator(".namespace-node");
    await expect.poll(() => namespaces.allInnerTexts()).toEqual(["bookinfo", "istio-system", "bookinfo", "istio-system"]);
    // Each box is inside of the one of its cluster.
    const inside = `[...document.querySelectorAll(".namespace-node")].every((one) => {
      const box = one.getBoundingClientRect();
      return [...document.querySelectorAll(".cluster-node")].some((other) => {
        const around = other.getBoundingClientRect();
        return around.left < box.left && box.right < around.right && around.top < box.top && box.bottom < around.bottom;
      });
    })`;
    await expect.poll(() => page.evaluate(inside)).toBe(true);

    await page.getByLabel("Hide", { exact: true }).fill("ns:istio-system");
    await expect.poll(() => namespaces.allInnerTexts()).toEqual(["bookinfo", "bookinfo"]);
    await page.getByLabel("Find", { exact: true }).fill("reviews -cluster:cluster-2");
    await page.getByText("1 found", { exact: true }).waitFor();
    // The graph draws what was found right after the count says it.
    await expect.poll(() => page.locator(".is-found .service-node").allInnerTexts()).toEqual([expect.stringContaining("reviews")]);
    await expect.poll(() => page.locator(".is-dim .service-node").count()).toBe(5);
    await page.getByRole("button", { name: "federation" }).click();
    await page.locator(".federation .react-flow__edge-path").waitFor({ state: "detached" });
    // A link shows the same.
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("Copied").waitFor();
    const link = String(await page.evaluate("navigator.clipboard.readText()"));
    expect(Object.fromEntries(new URL(link).searchParams)).toEqual({
      box: "cluster>namespace",
      show: "policy,access,insights",
      find: "reviews -cluster:cluster-2",
      without: "ns:istio-system",
    });
    await page.goto(link);
    await page.getByText("1 found", { exact: true }).waitFor();
    await expect.poll(() => namespaces.allInnerTexts()).toEqual(["bookinfo", "bookinfo"]);
    expect(await faults(page, "boxes")).toEqual([]);
    // The table keeps to the same.
    await page.getByRole("button", { name: "Table" }).click();
    await page.getByRole("row").filter({ hasText: "25 %" }).getByText("an end").waitFor();
    expect(
      await page
        .getByRole("row")
        .filter({ hasText: /istio-system|federation/ })
        .count(),
    ).toBe(0);
    await page.getByRole("searchbox", { name: "Filter" }).fill("-type:routing");
    await expect.poll(() => page.getByText("25 %").count()).toBe(0);
    await page.getByRole("searchbox", { name: "Filter" }).fill("-nosuch:x");
    await page.getByText("There is no filter nosuch:").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();

    // Namespaces of one name are one box; what there is no box for is not drawn, and the page says so.
    await show(page, "/topology?box=namespace");
    await expect.poll(() => namespaces.allInnerTexts()).toEqual(["bookinfo", "istio-system"]);
    await page.getByText(/it is drawn where clusters have boxes/).waitFor();
    await page.getByLabel("Boxes").selectOption("none");
    await expect.poll(() => page.locator(".namespace-node, .cluster-node").count()).toBe(0);
    await expect.poll(() => page.locator(".service-node").count()).toBe(8);
    await page.getByLabel("Find", { exact: true }).fill("mtls:yes");
    await page.getByText("There is no filter mtls:").waitFor();
    await expect.poll(() => page.locator(".is-dim").count()).toBe(0);
    await page.getByLabel("Hide", { exact: true }).fill("-mtls:yes");
    await expect.poll(() => page.getByText("There is no filter mtls:").count()).toBe(2);
    await expect.poll(() => page.locator(".service-node").count()).toBe(8);
    demo.press("u");
    await page.locator(".route .react-flow__edge-path").waitFor({ state: "detached" });
  });

  it("says what a policy would do, that nobody has written", async () => {
    const page = await open(`${DESTINATION}/reviews-bookinfo-cluster-1`);
    await show(page, "/policies");
    await page.getByRole("link", { name: "What if …" }).click();
    const field = page.getByRole("textbox", { name: "Policies in YAML or JSON" });
    await page.getByText("There is no policy to translate yet.").waitFor();
    await page.getByRole("button", { name: "Load an example" }).click();
    await page.getByText("It does not exist yet").waitFor();
    await page.getByRole("heading", { name: /^Objects in clusters that would change · [1-9]/ }).waitFor();
    await field.fill(POLICY("slow", "requestTimeout: 3s"));
    await page.getByText("It does not exist yet").waitFor();
    await page.getByRole("heading", { name: "Objects in clusters that would change · 2" }).waitFor();
    await page.getByText("cluster-1 1 · cluster-2 1").waitFor();
    await page
      .locator(".yaml")
      .getByText(/^\+.*timeout: "3s"/)
      .first()
      .waitFor();
    expect(await faults(page, "what if")).toEqual([]);
    // A link shows the same.
    await expect.poll(() => new URL(page.url()).searchParams.get("policy")).toContain("requestTimeout: 3s");
    await page.reload();
    await page.getByRole("heading", { name: "Objects in clusters that would change · 2" }).waitFor();
    // Nothing was written, and another policy that says otherwise would lose.
    demo.press("t");
    await page
      .getByText(/TrafficPolicy bookinfo\/reviews-timeout has precedence/)
      .first()
      .waitFor();
    demo.press("d");
    await page
      .getByText(/has precedence/)
      .first()
      .waitFor({ state: "detached" });
    await field.fill(`${POLICY("slow", "requestTimeout: 3")}---\n[`);
    await page.getByText(/Document 1: .*is not a duration/).waitFor();
    await page.getByText(/Document 2: /).waitFor();
    // There is one, and it was not read.
    await page.getByText("No policy was read").waitFor();
    expect(await page.getByText("There is no policy to translate yet.").count()).toBe(0);
    await show(page, "/policies");
    await page.getByRole("status").filter({ hasText: "policies" }).waitFor();
    expect(await page.getByText("slow").count()).toBe(0);
  });

  it("says who may call whom, by which policy, and who could with a policy that nobody has written", async () => {
    const page = await open("/access");
    await page.getByText("Every service has at least one allowed caller.").waitFor();
    await page.getByRole("button", { name: "Services" }).click();
    await page.getByText("8 callers × 8 targets").waitFor();
    await page.getByRole("searchbox", { name: "Filter" }).fill("to:reviews from:bookinfo cluster:cluster-1");
    await page.getByText("4 of 8 callers × 1 of 8 targets").waitFor();
    const productpage = "cluster-1/bookinfo/bookinfo-productpage → cluster-1/bookinfo/reviews";
    await page.getByRole("link", { name: `yes ${productpage}` }).click();
    await page.getByText("Nothing restricts who may call it.").waitFor();

    await show(page, `/policies/what-if?policy=${encodeURIComponent(READERS)}`);
    await page.getByRole("link", { name: "Who may call whom then" }).click();
    await page.getByText("As it would be with AccessPolicy bookinfo/readers").waitFor();
    await page.getByRole("button", { name: "Services" }).click();
    await page.getByRole("link", { name: "no cluster-1/bookinfo/bookinfo-ratings → cluster-1/bookinfo/reviews" }).click();
    await page.getByText("none of them is about this caller and request").waitFor();
    await page.getByRole("link", { name: `partly ${productpage}` }).click();
    await page.getByLabel("Method").fill("get");
    const answer = page.locator(".access-answer");
    await answer.getByText("Allowed", { exact: true }).waitFor();
    await answer.getByRole("link", { name: /AccessPolicy\s*bookinfo\/readers/ }).waitFor();
    await answer.getByRole("link", { name: /AuthorizationPolicy\s*bookinfo\/reviews/ }).waitFor();
    await page.getByLabel("Method").fill("PUT");
    await answer.getByText("Denied", { exact: true }).waitFor();
    await answer.getByText("kind: AccessPolicy").waitFor();
    // A misspelt caller is not allowed and not denied, and those that there are stand beside it.
    await page.getByLabel("From").fill("cluster-1/bookinfo/bookinfo-productpge");
    await answer.getByText("Unknown caller", { exact: true }).waitFor();
    expect(await answer.locator(".status[data-tone=good]").count()).toBe(0);
    await answer.getByRole("button", { name: "cluster-1/bookinfo/bookinfo-productpage" }).click();
    await answer.getByText("Denied", { exact: true }).waitFor();
    expect(await faults(page, "access")).toEqual([]);
    const link = page.url();
    await page.goto(link);
    await answer.getByText("Denied", { exact: true }).waitFor();
    await page.getByLabel("From").fill("<img src=x onerror=self.wasHacked=true>");
    await page.getByText("From must be a cluster").waitFor();
    // Another Service that is not to be called by anybody.
    await show(page, `/access?view=services&policy=${encodeURIComponent(READERS.replace("[GET]", "['']"))}`);
    await page.getByText("Nobody may call cluster-1/bookinfo/reviews.").waitFor();
    await page.getByRole("link", { name: "Show current state" }).click();
    await page.getByText("Every service has at least one allowed caller.").waitFor();
  });

  it("counts insights alike on each page", async () => {
    const page = await open("/");
    await page.locator(".tile").filter({ hasText: "Insights" }).locator(".tile-total").waitFor();
    const total = () => page.locator(".tile").filter({ hasText: "Insights" }).locator(".tile-total").innerText();
    await expect.poll(async () => Number(await total())).toBeGreaterThan(4);
    const all = (await total()).trim();
    await show(page, "/insights");
    await page.getByRole("button", { name: `Active ${all}`, exact: true }).waitFor();
    await show(page, "/object/multicluster.solo.io/KubernetesCluster/_/gloo-mesh/cluster-1");
    const tab = await page.getByRole("tab", { name: /^Insights/ }).innerText();
    await page.getByRole("tab", { name: /^Insights/ }).click();
    expect(await page.locator(".card").count()).toBe(Number(tab.replace(/\D/g, "")));
    expect(await page.locator(".card").count()).toBeGreaterThan(0);
    expect(await faults(page, "insights of a cluster")).toEqual([]);
  });

  it("shows when conditions changed, and when insights began and ended", async () => {
    demo.press("b");
    const page = await open("/object/networking.mesh.gloo.solo.io/TrafficPolicy/_/bookinfo/ratings-canary?tab=events");
    const events = page.getByRole("list", { name: "Events" });
    await events.getByText("Accepted became False").waitFor();
    await events.getByRole("listitem").filter({ hasText: "Insight began" }).getByRole("link", { name: "RTE1001" }).first().waitFor();
    await page.getByText(/Not kept anywhere: earlier changes/).waitFor();
    demo.press("v");
    await page.getByText("This object is not in the snapshot.").waitFor();
    demo.press("b");
    // The same insight about the object of before has ended.
    await events.getByText("Insight ended").first().waitFor();
    expect(await faults(page, "events")).toEqual([]);
    demo.press("v");
    await page.getByText("This object is not in the snapshot.").waitFor();
  });

  it("names the cluster whose agent is stopped, and keeps what was known of it", async () => {
    const page = await open("/clusters");
    const row = page.getByRole("row").filter({ hasText: "cluster-2" });
    await row.getByText("Connected").waitFor();
    const objects = async () => Number(await row.getByRole("cell").nth(6).innerText());
    const before = await objects();
    await row.getByText("0 s", { exact: true }).waitFor();
    demo.press("a");
    await row.getByText("Offline").waitFor();
    // What waits for it says since when.
    demo.press("t");
    await row.getByText(/^[1-9]\d* s$/).waitFor();
    demo.press("d");
    await page
      .getByRole("group", { name: "Freshness of the snapshot" })
      .getByText(/cluster-2 frozen \d\d:\d\d/)
      .waitFor();
    expect(before).toBeGreaterThan(20);
    // The graph draws what was known last, and says so.
    await show(page, "/topology");
    const boxes = page.locator(".cluster-node");
    await boxes
      .filter({ hasText: "cluster-2" })
      .getByText(/offline since \d\d:\d\d/)
      .waitFor();
    expect(
      await boxes
        .filter({ hasText: "cluster-1" })
        .getByText(/offline/)
        .count(),
    ).toBe(0);
    await page.locator(".federation.is-offline").waitFor({ state: "attached" });
    expect(await faults(page, "offline in the graph")).toEqual([]);
    await page.goBack();
    await page.getByRole("link", { name: "cluster-2", exact: true }).first().click();
    await page.getByText("meshctl cluster diagnose cluster-2", { exact: true }).waitFor();
    await page.getByText("Walks from DNS to the rights of the agent").waitFor();
    await page.goBack();
    expect(await objects()).toBeGreaterThanOrEqual(before);
    await page.getByRole("link", { name: "Insights", exact: true }).click();
    await page.getByRole("link", { name: "REL1001" }).waitFor();
    await show(page, `${DESTINATION}/reviews-bookinfo-cluster-2`);
    await page
      .locator(".object-state")
      .getByText(/frozen/)
      .waitFor();
    demo.press("a");
    await page
      .locator(".object-state")
      .getByText(/frozen/)
      .waitFor({ state: "detached" });
  });

  it("shows on every page what was known at an earlier time, and what has changed since", async () => {
    const page = await open("/policies");
    // The demo keeps a moment every five seconds.
    await page.waitForTimeout(5_500);
    demo.press("t");
    await page.getByRole("link", { name: "reviews-timeout" }).waitFor();
    await page.waitForTimeout(5_500);
    demo.press("s");
    await page.getByRole("link", { name: "reviews-shift" }).waitFor();
    await page.getByRole("button", { name: "History" }).click();
    const slider = page.getByRole("slider", { name: "Time" });
    await slider.focus();
    // Back by keyboard, until neither of them was there.
    for (let i = 0; i < 100 && (await page.getByRole("link", { name: /reviews-/ }).count()) > 0; i++) {
      await page.keyboard.press("ArrowLeft");
      // Long enough for what was known then to be shown.
      await page.waitForTimeout(1_500);
    }
    await page.getByText(/Every page shows what was known at \d\d:\d\d:\d\d/).waitFor();
    await page
      .getByRole("group", { name: "Freshness of the snapshot" })
      .getByText(/as of \d\d:\d\d:\d\d/)
      .waitFor();
    expect(await faults(page, "history")).toEqual([]);
    // Every page, and a link, show the same time.
    await page.getByRole("link", { name: "Overview" }).click();
    const { searchParams } = new URL(page.url());
    expect(searchParams.get("at")).toMatch(/Z$/);
    await page.reload();
    await page.getByText(/Every page shows what was known at/).waitFor();
    await page.getByRole("link", { name: "What changed since then" }).click();
    await page.getByRole("heading", { name: "Changes", exact: true }).waitFor();
    for (const name of ["bookinfo/reviews-timeout", "bookinfo/reviews-shift"]) await page.getByRole("link", { name }).first().waitFor();
    await page.getByRole("heading", { name: /Generated objects · [1-9]/ }).waitFor();
    expect(await faults(page, "changes")).toEqual([]);
    // Of one object: which generations there were, each as it was.
    await show(page, "/object/networking.mesh.gloo.solo.io/TrafficPolicy/_/bookinfo/reviews-timeout?tab=events");
    const generations = page.getByRole("group", { name: "Generations" });
    await generations.getByRole("row").nth(1).getByText("1", { exact: true }).waitFor();
    expect(await faults(page, "generations")).toEqual([]);
    await generations.getByRole("link", { name: "YAML" }).first().click();
    await page.locator(".yaml").getByText("kind: TrafficPolicy").waitFor();
    await page.getByText(/Every page shows what was known at/).waitFor();
    await show(page, `/changes?at=${encodeURIComponent(searchParams.get("at") ?? "")}`);
    await page.getByRole("button", { name: "Now", exact: true }).click();
    await page.getByText("Choose an earlier time with History").waitFor();
    expect(new URL(page.url()).searchParams.get("at")).toBeNull();
    await page.getByRole("link", { name: "Policies" }).click();
    await page.getByRole("link", { name: "reviews-shift" }).waitFor();
    // A time of which nothing is kept.
    await show(page, "/policies?at=1999-01-01T00:00:00.000Z");
    await page.getByRole("alert").getByText("nothing of that time is kept").waitFor();
    problems = problems.filter((problem) => !problem.includes("404"));
    demo.press("u");
    demo.press("d");
    await show(page, "/policies");
    await page
      .getByRole("link", { name: /reviews-/ })
      .first()
      .waitFor({ state: "detached" });
  });

  it("does not move rows under the pointer", async () => {
    const page = await open("/policies");
    await page.getByRole("cell", { name: "VirtualMesh", exact: true }).hover();
    demo.press("t");
    const notice = page.getByRole("button", { name: "1 new – show" });
    await notice.waitFor();
    expect(await page.getByRole("link", { name: "reviews-timeout" }).count()).toBe(0);
    // Nor while somebody points at the notice, for as long as that takes.
    await notice.hover();
    await page.waitForTimeout(300);
    expect(await notice.count()).toBe(1);
    expect(await page.getByRole("link", { name: "reviews-timeout" }).count()).toBe(0);
    await notice.click();
    await page.getByRole("link", { name: "reviews-timeout" }).waitFor();
    demo.press("d");
    await page.mouse.move(5, 790);
    await page.getByRole("link", { name: "reviews-timeout" }).waitFor({ state: "detached" });
  });

  it("keeps filter and order in the address", async () => {
    const page = await open("/workloads");
    await page.getByRole("searchbox").fill('cluster:cluster-1 ns:bookinfo "reviews"');
    await page.getByText("2 of 11 workloads").waitFor();
    await page.getByRole("button", { name: "Name", exact: true }).click();
    await page.getByRole("button", { name: "Name", exact: true }).click();
    const names = () => page.locator(".table-body .object-link").allInnerTexts();
    await expect.poll(names).toEqual(["reviews-v2", "reviews-v1"]);
    await page.reload();
    await page.getByText("2 of 11 workloads").waitFor();
    await expect.poll(names).toEqual(["reviews-v2", "reviews-v1"]);
    expect(new URL(page.url()).searchParams.get("q")).toBe('cluster:cluster-1 ns:bookinfo "reviews"');
    // By one column, and where that is equal by another; by keyboard, too.
    await show(page, "/workloads?q=ns:bookinfo&sort=-cluster");
    await page.getByText("7 of 11 workloads").waitFor();
    await page.getByRole("button", { name: "Name", exact: true }).focus();
    for (let i = 0; i < 2; i++) await page.keyboard.press("Shift+Enter");
    const ordered = ["reviews-v3", "ratings-v1", "reviews-v2", "reviews-v1", "ratings-v1", "productpage-v1", "details-v1"];
    await expect.poll(names).toEqual(ordered);
    expect(new URL(page.url()).searchParams.get("sort")).toBe("-cluster,-name");
    expect(await faults(page, "order")).toEqual([]);
    await page.reload();
    await expect.poll(names).toEqual(ordered);
  });

  it("keeps to the clusters that are chosen, on every page, by keyboard too, and links have them", async () => {
    const page = await open("/workloads");
    const { keyboard } = page;
    await page.getByText("11 workloads", { exact: true }).waitFor();
    await keyboard.press("s");
    await page.getByRole("dialog", { name: "Clusters" }).waitFor();
    await keyboard.type("2");
    await keyboard.press("Tab");
    await keyboard.press("Space");
    await page.getByRole("checkbox", { name: "cluster-2", checked: true }).waitFor();
    expect(await faults(page, "the choice of clusters")).toEqual([]);
    await keyboard.press("Escape");
    await page.getByText(/^[1-8] of 11 workloads/).waitFor();
    expect(await page.getByRole("cell", { name: "cluster-1", exact: true }).count()).toBe(0);
    await keyboard.press("g");
    await keyboard.press("c");
    await page.getByText("1 of 2 clusters", { exact: true }).last().waitFor();
    await page.getByRole("link", { name: "Access", exact: true }).click();
    await page.getByText(/^[1-7] of 8 callers|^[1-9] of [1-9] callers/).waitFor();
    await page.getByRole("link", { name: "Policies", exact: true }).click();
    // It is about both clusters.
    await page.getByRole("link", { name: "bookinfo", exact: true }).waitFor();
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    expect(new URL(page.url()).searchParams.get("scope")).toBe("cluster-2");
    await page.locator(".tile").filter({ hasText: "Clusters" }).getByText("of 2").waitFor();
    expect(await faults(page, "with chosen clusters")).toEqual([]);
    await page.reload();
    await page.locator(".tile").filter({ hasText: "Clusters" }).getByText("of 2").waitFor();
    await page.getByRole("button", { name: "Leave out cluster-2" }).click();
    await page.getByRole("button", { name: "All clusters" }).waitFor();
    expect(new URL(page.url()).searchParams.has("scope")).toBe(false);
    // Of a cluster that there is not, nothing is shown, and the way out is.
    await show(page, "/workloads?scope=<img>");
    await page.getByText("Only cluster <img> is shown").waitFor();
    await page.getByRole("button", { name: "Show all clusters" }).click();
    await page.getByText("11 workloads", { exact: true }).waitFor();
  });

  it("changes nothing while it is paused, says since when and how much waits, and shows it when resumed", async () => {
    const page = await open("/policies");
    const clock = page.getByRole("group", { name: "Freshness of the snapshot" });
    await page.getByRole("status").filter({ hasText: "policies" }).waitFor();
    await page.keyboard.press("p");
    await clock.getByText(/^paused since \d\d:\d\d/).waitFor();
    demo.press("t");
    await clock.getByText(/[1-9]\d* changes? waits?$/).waitFor();
    expect(await page.getByRole("link", { name: "reviews-timeout" }).count()).toBe(0);
    // On other pages, too.
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByRole("link", { name: "Policies", exact: true }).click();
    expect(await page.getByRole("link", { name: "reviews-timeout" }).count()).toBe(0);
    expect(await faults(page, "paused")).toEqual([]);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("link", { name: "reviews-timeout" }).waitFor();
    await clock.getByText(/^live/).waitFor();
    demo.press("d");
    await page.getByRole("link", { name: "reviews-timeout" }).waitFor({ state: "detached" });
  });

  it("shows a row beside the table, by pointer and by keyboard, and the address has it", async () => {
    const page = await open("/workloads?q=ns:bookinfo%20cluster:cluster-1&sort=name");
    const { keyboard } = page;
    const panel = page.getByRole("complementary");
    await page.getByRole("row").filter({ hasText: "ratings-v1" }).getByRole("cell").nth(2).click();
    await panel.getByRole("heading", { name: /^ratings-v1/ }).waitFor();
    await page.getByRole("heading", { name: "Workloads" }).waitFor();
    expect(await faults(page, "panel")).toEqual([]);
    // Escape closes the menu in it, and the panel stays.
    await panel.getByRole("button", { name: /^Copy/ }).click();
    await page.getByRole("menuitem", { name: "kubectl command" }).waitFor();
    await keyboard.press("Escape");
    await page.getByRole("menuitem").first().waitFor({ state: "detached" });
    expect(await panel.count()).toBe(1);
    expect(new URL(page.url()).searchParams.get("open")).toMatch(/^\/object\/.*\/Workload\/.*ratings-v1/);
    await page.reload();
    await panel.getByRole("heading", { name: /^ratings-v1/ }).waitFor();
    await page.getByText("of 11 workloads").waitFor();
    await keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.has("open")).toBe(false);

    // The row has the focus again: a key that is pressed before goes to nobody.
    await expect.poll(() => page.evaluate("document.activeElement?.textContent")).toMatch(/^ratings-v1/);
    await keyboard.press("k");
    await keyboard.press("Space");
    await panel.getByRole("heading", { name: /^productpage-v1/ }).waitFor();
    // What is beside follows the row that has the focus; the focus stays in the table.
    await keyboard.press("k");
    await panel.getByRole("heading", { name: /^details-v1/ }).waitFor();
    await keyboard.press("Space");
    await expect.poll(() => page.evaluate("document.activeElement?.tagName")).toBe("H2");
    await keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate("document.activeElement?.textContent")).toBe("details-v1");
    await keyboard.press("Enter");
    await page.getByRole("tab", { name: "Summary" }).waitFor();
    await show(page, "/workloads?open=/object/_/Pod/x/y/no-such-object");
    await panel.getByText("This object is not in the snapshot.").waitFor();
    await show(page, "/workloads?open=javascript:alert(1)");
    expect(await panel.count()).toBe(0);
  });

  it("shows the columns that are chosen, and the address has which", async () => {
    const page = await open("/workloads");
    const titles = async () => (await page.getByRole("columnheader").getByRole("button").allInnerTexts()).map((title) => title.trim());
    const shown = ["Name", "Cluster", "Namespace", "Service account", "Policies", "Identity", "Insights"];
    // There is no room for requests.
    expect(await titles()).toEqual([...shown.slice(0, 3), "Mesh", "Version", ...shown.slice(3)]);
    await page.getByRole("button", { name: /^Columns/ }).click();
    await page.getByRole("menuitemcheckbox", { name: "Mesh" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Mesh" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(titles).toEqual(shown);
    expect(await page.getByRole("menuitemcheckbox", { name: "Mesh", checked: false }).count()).toBe(1);
    expect(await faults(page, "columns")).toEqual([]);
    await page.keyboard.press("Escape");
    await expect.poll(() => new URL(page.url()).searchParams.get("hide")).toBe("mesh,rate,version");
    await page.reload();
    await expect.poll(titles).toEqual(shown);
    // What is hidden still filters, and what is exported is what is seen.
    await page.getByRole("searchbox").fill("mesh:istiod-istio-system-cluster-1");
    await page.getByText(/of 11 workloads/).waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
    expect(
      readFileSync(await download.path(), "utf8")
        .split("\n")[0]
        ?.trim(),
    ).toBe("Name,Cluster,Namespace,Service account,Policies,Identity,Insights");
    await page.getByRole("button", { name: /^Columns 7\/10/ }).click();
    await page.getByRole("menuitem", { name: "All columns" }).click();
    await expect.poll(titles).toHaveLength(10);
    // The first column says what a row is.
    await show(page, "/workloads?hide=name,nothing");
    await expect.poll(titles).toHaveLength(10);
  });

  it("is used by keyboard alone", async () => {
    const page = await open("/");
    const { keyboard } = page;
    await keyboard.press("g");
    await keyboard.press("w");
    await page.getByRole("heading", { name: "Workloads" }).waitFor();
    await keyboard.press("f");
    await keyboard.type("ns:bookinfo");
    await keyboard.press("Escape");
    await page.getByText("7 of 11 workloads").waitFor();
    await keyboard.press("j");
    await keyboard.press("j");
    await expect.poll(() => page.evaluate("document.activeElement?.closest('[data-index]')?.dataset.index")).toBe("1");
    await keyboard.press("Enter");
    await page.getByRole("tab", { name: "Summary" }).waitFor();
    await page.getByRole("tab", { name: "Summary" }).focus();
    await keyboard.press("ArrowRight");
    await keyboard.press("ArrowRight");
    await keyboard.press("ArrowRight");
    await page.locator(".yaml").waitFor();
    await keyboard.press("/");
    await keyboard.type("cluster-2 mesh istiod");
    await page.getByRole("option").first().waitFor();
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "istiod-istio-system-cluster-2" }).waitFor();
    await keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("copies commands and changes its colours", async () => {
    const page = await open(`${DESTINATION}/reviews-bookinfo-cluster-1`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: /^Copy/ }).click();
    await page.getByRole("menuitem", { name: "kubectl command" }).click();
    await page.getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
      "kubectl --namespace gloo-mesh get destination.discovery.mesh.gloo.solo.io reviews-bookinfo-cluster-1 --output yaml",
    );
    await show(page, "/workloads?q=ns:bookinfo%20cluster:cluster-1&sort=name");
    await page.keyboard.press("j");
    await page.keyboard.press("y");
    const offered = page.getByRole("dialog", { name: "Copy" });
    await offered.getByText("meshctl describe workload gloo-mesh/details-v1-bookinfo-cluster-1-deployment").waitFor();
    expect(await faults(page, "what can be copied of a row")).toEqual([]);
    await offered.getByRole("button", { name: "Copy link" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
      `${demo.url}/object/discovery.mesh.gloo.solo.io/Workload/_/gloo-mesh/details-v1-bookinfo-cluster-1-deployment`,
    );
    await page.keyboard.press("Escape");
    await offered.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Copy productpage-v1", exact: true }).click();
    await offered.getByText(/kubectl .* get workload/).waitFor();
    await page.keyboard.press("Escape");
    const scheme = () => page.evaluate("document.documentElement.dataset.mantineColorScheme");
    await expect.poll(scheme).toBe("light");
    await page.getByRole("button", { name: /Colour scheme: System/ }).click();
    await page.getByRole("button", { name: /Colour scheme: Light/ }).click();
    await expect.poll(scheme).toBe("dark");
    await page.reload();
    await page.getByRole("button", { name: /Colour scheme: Dark/ }).waitFor();
  });

  it("shows how far a rotation is in each mesh, what is waited for, and of the store what clusters say of their certificates", async () => {
    const mesh = (cluster: string) => ({
      apiVersion: "discovery.mesh.gloo.solo.io/v1",
      kind: "Mesh",
      metadata: { name: `istiod-${cluster}`, namespace: "gloo-mesh" },
      spec: { istio: { installation: { cluster, namespace: "istio-system" } } },
    });
    const trust = (step: string, more: object) => ({ state: "ACCEPTED", trust: { state: "ISSUED", step, ...more } });
    const objects = [
      mesh("east"),
      mesh("west"),
      {
        apiVersion: "networking.mesh.gloo.solo.io/v1",
        kind: "VirtualMesh",
        metadata: { name: "vm", namespace: "gloo-mesh" },
        spec: { mtlsConfig: { shared: {} } },
        status: {
          meshes: {
            "istiod-east.gloo-mesh.": trust("RETIRE", {}),
            "istiod-west.gloo-mesh.": trust("REISSUE", { waitsFor: [{ mesh: "istiod-east", offline: true }], blockedBy: "restart istiod" }),
          },
        },
      },
      {
        apiVersion: "certificates.mesh.gloo.solo.io/v1",
        kind: "IssuedCertificate",
        metadata: { name: "istiod-east", namespace: "gloo-mesh", clusterName: "east" },
        status: { installed: { notAfter: new Date(Date.now() + 5.5 * 86_400_000).toISOString() } },
      },
    ];
    const now = new Date().toISOString();
    const events: readonly (readonly [string, unknown])[] = [
      ["reset", { kind: "store", name: "redis", version: "0", namespace: "gloo-mesh" }],
      ["change", { put: objects, remove: [] }],
      ["clock", { now, at: now, clusters: [] }],
      ["ready", {}],
    ];
    const page = await open("/meshes");
    await answerStream(page, events);
    await show(page, "/meshes/certificates");
    const row = (name: string) => page.getByRole("row").filter({ hasText: name }).first();
    await row("istiod-west").getByText("Trust both: done").waitFor();
    await row("istiod-west").getByText("Reissue: under way").waitFor();
    await row("istiod-west").getByText("Retire: ahead").waitFor();
    // In a row of their own below it, as wide as the table.
    const sentences = page.locator("tr", { hasText: "Reissue: under way" }).locator("+ tr.row-below");
    await sentences.getByText("Waits for istiod-east (agent offline)").waitFor();
    await sentences.getByText("Blocked by restart istiod").waitFor();
    await row("istiod-east").getByText("Retire: under way").waitFor();
    await row("istiod-east").getByText("5 d").waitFor();
    await page.getByText(/Without a management server only what clusters report/).waitFor();
    await page.getByRole("row").filter({ hasText: "CA of a mesh" }).getByText("Valid", { exact: true }).waitFor();
    expect(await faults(page, "rotation")).toEqual([]);
    problems = problems.filter((problem) => !problem.includes("ERR_"));
  });

  it("shows hostile names as text", async () => {
    const evil = `<img src=x onerror="self.wasHacked = true">\u202Egpj.exe${"very-long-".repeat(500)}`;
    const object = {
      apiVersion: "discovery.mesh.gloo.solo.io/v1",
      kind: "Workload",
      metadata: { name: evil, namespace: "gloo-mesh", annotations: { "</script><script>self.wasHacked = true</script>": evil } },
      spec: { kubernetes: { controller: { name: evil, namespace: evil, clusterName: evil }, podLabels: { [evil]: evil } } },
    };
    const events: readonly (readonly [string, unknown])[] = [
      ["reset", { kind: "file", name: evil, version: evil, namespace: evil }],
      ["change", { put: [object], remove: [] }],
      ["clock", { now: new Date().toISOString(), at: new Date().toISOString(), clusters: [{ name: evil, at: null }] }],
      ["ready", {}],
    ];
    const page = await open("/workloads");
    await answerStream(page, events);
    for (const path of ["/workloads", "/", "/clusters", "/debug", "/debug/discovery.mesh.gloo.solo.io/Workload"]) {
      await show(page, path);
      const wider = await page.evaluate("document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth");
      expect([path, wider]).toEqual([path, 0]);
    }
    await show(page, "/workloads");
    await page.locator(".table-body [role=cell]").nth(4).click();
    await page.getByRole("complementary").getByRole("heading", { level: 2 }).first().getByText("\\u202egpj.exe").waitFor();
    const overflow = "['main', '.side-panel'].map((one) => document.querySelector(one)).map((one) => one.scrollWidth - one.clientWidth)";
    expect(await page.evaluate(overflow)).toEqual([0, 0]);
    await show(page, "/debug/discovery.mesh.gloo.solo.io/Workload");
    await page.locator(".table-body .object-link").first().click();
    for (const tab of ["YAML", "Summary"]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.locator("main").getByText("\\u202egpj.exe").first().waitFor();
    }
    expect(await page.evaluate("[self.wasHacked, document.images.length]")).toEqual([false, 0]);
    expect(await page.locator("main").innerText()).not.toContain("\u202E");
  });

  it("says that it is cut off, keeps what it had, and has no empty page", async () => {
    const page = await open("/workloads");
    await page.getByText("11 workloads").waitFor();
    await demo.stop();
    await page
      .getByRole("alert")
      .getByText(/cannot be reached/)
      .waitFor();
    await page.getByText(/disconnected since \d\d:\d\d/).waitFor();
    expect(await page.getByText("11 workloads").count()).toBe(1);
    expect(await faults(page, "cut off")).toEqual([]);
    // The browser says of each attempt that it is refused, until nobody looks any more.
    await page.context().close();
    expect(
      problems.every((problem) => problem.includes("ERR_CONNECTION_REFUSED") || problem.includes("ERR_INCOMPLETE_CHUNKED_ENCODING")),
    ).toBe(true);
    problems = [];
  });
});
