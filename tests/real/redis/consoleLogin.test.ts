import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TrafficPolicy } from "@isthmus/api";
import type { AnyResource, Log, Resource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { redisStore } from "@isthmus/store";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { type Program, startProgram } from "../harness/childProcess.ts";
import { PAGE_PATIENCE_MS } from "../harness/chromium.ts";
import { clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { findChromium } from "../harness/findChromium.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import { freePorts } from "../harness/freePorts.ts";
import { applyAll } from "../harness/manifests.ts";
import { type RealRedis, startRedis } from "../harness/redis.ts";
import { tokenFor } from "../harness/serviceAccount.ts";
import { bookinfoMesh, type SimulatedFleet, simulatedFleet } from "./simulatedFleet.ts";

const nothing = () => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const KEY = Buffer.alloc(32, "of-a-test");
const soon = { timeout: 60_000, interval: 50 };
const RBAC = "rbac.authorization.k8s.io/v1";
const AUDIENCE = "gloo-mesh-console";
const STREAM = "/api/v1/stream";

/** What makes DestinationRules in the namespaces of Services. */
const careful: TrafficPolicy = {
  apiVersion: TrafficPolicy.apiVersion,
  kind: TrafficPolicy.kind,
  metadata: { name: "careful", namespace: "gloo-mesh" },
  spec: { policy: { outlierDetection: { consecutiveErrors: 3 } } },
};

// API server, its authorization, Redis, the program and the browser are real; the clusters that are shown are simulated.
describeReal("a login to the console", (components) => {
  let kubernetes: Fleet<"management">;
  let management: Cluster;
  let redis: RealRedis;
  let shown: SimulatedFleet;
  let browser: Browser;
  let program: Program;
  let port: number;
  let tlsProgram: Program;
  let tlsPort: number;
  const stores: { close(): Promise<void> }[] = [];
  const tokens = new Map<string, string>();
  const contexts: BrowserContext[] = [];

  async function grant(name: string, kind: "Role" | "ClusterRole", rules: readonly object[], namespace?: string): Promise<void> {
    const subjects = [{ kind: "ServiceAccount", name, namespace: "default" }];
    const metadata = { name: `${name}-${namespace ?? "all"}`, ...(namespace === undefined ? {} : { namespace }) };
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind, name: metadata.name };
    await applyAll(management, [
      { apiVersion: RBAC, kind, metadata, rules },
      { apiVersion: RBAC, kind: `${kind}Binding`, metadata, subjects, roleRef },
    ] as unknown as AnyResource[]);
  }

  async function serve(
    name: string,
    more: (at: number) => readonly string[],
  ): Promise<{ readonly program: Program; readonly port: number }> {
    const [at = 0, adminPort = 0] = await freePorts(2);
    const bin = fileURLToPath(new URL("../../../apps/ui/bin/ui.js", import.meta.url));
    const { directory } = kubernetes;
    const args = [
      `--redis-address=127.0.0.1:${redis.settings.port}`,
      `--store-key=${directory}`,
      `--port=${at}`,
      `--admin-port=${adminPort}`,
    ];
    const login = ["--login=kubernetes", `--kubeconfig=${join(directory, "console.kubeconfig")}`, ...more(at)];
    const one = startProgram({ name, command: process.execPath, args: [bin, ...args, ...login], log: join(directory, `${name}.log`) });
    await vi.waitFor(() => expect(one.output()).toContain("the console is at"), soon);
    return { program: one, port: at };
  }

  beforeAll(async () => {
    kubernetes = await startFleet(components, ["management"]);
    management = clusterOf(kubernetes.servers.management, "");
    const { directory, servers } = kubernetes;
    redis = await startRedis(components.redis, directory, { persistent: true });
    shown = simulatedFleet(silent);
    const store = redisStore(redis.settings, { keys: async () => ({ key: KEY }), log: silent });
    stores.push(store);
    shown.startServer("a", { store });
    for (const name of ["cluster-1", "cluster-2"]) {
      shown.route(name, "a");
      shown.startAgent(name);
    }
    await shown.management.create(bookinfoMesh);
    await shown.management.create(careful);
    await vi.waitFor(async () => {
      for (const clusterName of ["cluster-1", "cluster-2"])
        expect(
          (await store.head({ section: "translated", clusterName }))?.kinds?.["networking.istio.io/ServiceEntry"]?.count ?? 0,
        ).toBeGreaterThan(2);
    }, soon);

    const namespaces = ["gloo-mesh", "bookinfo"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
    const accounts = ["console", "admin", "developer", "nobody"].map((name) => ({
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name, namespace: "default" },
    }));
    await applyAll(management, [...namespaces, ...accounts] as unknown as AnyResource[]);
    // The rights that the chart gives the console, and no other.
    await grant("console", "ClusterRole", [
      { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
      { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
    ]);
    await grant("admin", "ClusterRole", [{ apiGroups: ["*"], resources: ["*"], verbs: ["list", "get"] }]);
    await grant("developer", "Role", [{ apiGroups: ["", "networking.istio.io"], resources: ["*"], verbs: ["list"] }], "bookinfo");
    const one = [{ apiGroups: ["multicluster.solo.io"], resources: ["kubernetesclusters"], resourceNames: ["cluster-1"], verbs: ["get"] }];
    await grant("developer", "Role", one, "gloo-mesh");
    for (const name of ["admin", "developer", "nobody"]) tokens.set(name, await tokenFor(servers.management, name, [AUDIENCE]));
    tokens.set("of the API server", await tokenFor(servers.management, "admin", ["https://kubernetes.default.svc"]));
    tokens.set("of another program", await tokenFor(servers.management, "admin", ["gloo-mesh-admin"]));

    const own = await tokenFor(servers.management, "console", ["https://kubernetes.default.svc"]);
    const kubeconfig = servers.management.strangerKubeconfig.replace(/stranger-\w+/, own);
    writeFileSync(join(directory, "console.kubeconfig"), kubeconfig, { mode: 0o600 });
    writeFileSync(join(directory, "key"), KEY.toString("base64"));
    ({ program, port } = await serve("ui", (at) => [`--public-url=http://127.0.0.1:${at}`]));
    const [cert, key] = [join(directory, "tls.crt"), join(directory, "tls.key")];
    const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=console"];
    execFileSync("openssl", [...made, "-addext", "subjectAltName=DNS:localhost", "-days", "1", "-keyout", key, "-out", cert], {
      stdio: "ignore",
    });
    ({ program: tlsProgram, port: tlsPort } = await serve("ui-tls", (at) => [
      "--host=127.0.0.1",
      `--public-url=https://localhost:${at}`,
      `--tls-cert=${cert}`,
      `--tls-key=${key}`,
    ]));
    const executablePath = findChromium();
    if (executablePath === undefined) return expect.fail("Chromium is not installed: run tests/real/install.sh");
    // Its sandbox needs rights that containers do not have; what it opens is ours.
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  });

  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([program?.stop(), tlsProgram?.stop()]);
    await shown?.stop();
    for (const store of stores) await store.close();
    await redis?.stop();
    await kubernetes?.stop();
  });

  async function newPage(colorScheme: "light" | "dark" = "light"): Promise<Page> {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, colorScheme, viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(PAGE_PATIENCE_MS);
    contexts.push(context);
    return context.newPage();
  }

  async function logIn(page: Page, user: string, path = "/", url = `http://127.0.0.1:${port}`): Promise<void> {
    await page.goto(`${url}${path}`);
    await page.getByLabel("Token").fill(tokens.get(user) ?? user);
    await page.getByRole("button", { name: "Log in" }).click();
  }

  async function faults(page: Page): Promise<readonly string[]> {
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as { violations: { id: string }[] };
    return violations.map(({ id }) => id);
  }

  it("is asked for by each page and endpoint", async () => {
    for (const path of ["/", "/policies", "/object/_/Service/cluster-1/bookinfo/reviews", STREAM, "/assets/x.js", "/index.html"]) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      expect([path, response.status, await response.text()]).toEqual([path, 401, "not logged in\n"]);
    }
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await newPage(colorScheme);
      await page.goto(`http://127.0.0.1:${port}/destinations?q=ns:bookinfo`);
      expect(page.url()).toContain("/login?next=");
      expect(await page.getByLabel("Token").and(page.locator(":focus")).count()).toBe(1);
      expect(await faults(page)).toEqual([]);
    }
  });

  it("is refused with a token of nobody, of another program, and, over plain HTTP, of the API server", async () => {
    const page = await newPage();
    for (const user of ["nonsense", "of another program", "of the API server"]) {
      await logIn(page, user);
      await page.getByRole("alert").getByText("does not accept this token for the audience gloo-mesh-console").waitFor();
      expect(await page.context().cookies()).toEqual([]);
      expect(await faults(page)).toEqual([]);
    }
  });

  it("shows an administrator everything, where the link led", async () => {
    const page = await newPage();
    await logIn(page, "admin", "/destinations?q=ns:bookinfo");
    await page.getByText(/of 8 destinations|8 destinations/).waitFor();
    expect(new URL(page.url()).search).toContain("ns");
    await page.getByRole("button", { name: "User: system:serviceaccount:default:admin" }).click();
    await page.getByText("You see everything that the console has.").waitFor();
    expect(await faults(page)).toEqual([]);
    expect(await page.evaluate("document.cookie")).toBe("");
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel("Token").waitFor();
    await page.goto(`http://127.0.0.1:${port}/destinations`);
    await page.getByLabel("Token").waitFor();
  });

  it("shows a developer one namespace of one cluster, and says which rights are missing", async () => {
    const page = await newPage();
    const streams: string[] = [];
    await logIn(page, "developer", "/debug/_/Service");
    await page.getByRole("link", { name: "reviews" }).first().waitFor();
    expect(await page.getByText("cluster-2").count()).toBe(0);
    await page.goto(`http://127.0.0.1:${port}/policies`);
    await page.getByText("Objects that you may not list are not shown.").waitFor();
    await page.getByRole("button", { name: /partial view|User:/ }).click();
    await page.getByText("virtualmeshes.networking.mesh.gloo.solo.io").waitFor();
    expect(await faults(page)).toEqual([]);
    // Nothing else came over the wire.
    const [cookie] = await page.context().cookies();
    const stop = new AbortController();
    const response = await fetch(`http://127.0.0.1:${port}${STREAM}`, {
      headers: { cookie: `${cookie?.name}=${cookie?.value}` },
      signal: stop.signal,
    });
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
      streams.push(Buffer.from(part).toString());
      if (streams.join("").includes("event: ready")) break;
    }
    stop.abort();
    const text = streams.join("");
    expect(text).toContain('"name":"reviews"');
    expect(text).toContain('"kind":"DestinationRule"');
    expect(text).not.toContain("cluster-2");
    const sent = [...text.matchAll(/^event: (?:change|generated)\ndata: (.*)$/gm)].flatMap(
      ([, data]) => JSON.parse(data ?? "").put as Resource[],
    );
    const places = new Set(sent.map(({ metadata: { namespace, clusterName } }) => `${clusterName}/${namespace}`));
    expect([...places]).toEqual(["cluster-1/bookinfo"]);
  });

  it("over TLS takes a token of the API server, and its cookie is sent over TLS alone", async () => {
    const page = await newPage();
    await logIn(page, "of the API server", "/clusters", `https://localhost:${tlsPort}`);
    await page.getByText("cluster-2").first().waitFor();
    expect(await page.context().cookies()).toMatchObject([
      { name: "__Host-gloo-mesh-console", httpOnly: true, secure: true, sameSite: "Lax", domain: "localhost", path: "/" },
    ]);
    await expect(fetch(`http://127.0.0.1:${tlsPort}/login`)).rejects.toThrow();
  });

  it("follows within a minute what changes: a right that is given, an account that is deleted", async () => {
    const [nobody, developer] = [await newPage(), await newPage()];
    await logIn(nobody, "nobody", "/debug/_/Service");
    await nobody.getByText("Objects that you may not list are not shown.").waitFor();
    await logIn(developer, "developer", "/debug/_/Service");
    await developer.getByRole("link", { name: "reviews" }).first().waitFor();
    const given = [{ apiGroups: ["", "multicluster.solo.io"], resources: ["services", "kubernetesclusters"], verbs: ["list"] }];
    await grant("nobody", "ClusterRole", given);
    await management.delete({ apiVersion: "v1", kind: "ServiceAccount", name: "developer", namespace: "default", clusterName: "" });
    await Promise.all([
      nobody.getByRole("link", { name: "reviews" }).first().waitFor({ timeout: 90_000 }),
      developer.getByLabel("Token").waitFor({ timeout: 150_000 }),
    ]);
    expect(developer.url()).toContain("/login?next=%2Fdebug");
    // Nothing of the tokens is in what the program writes.
    for (const token of tokens.values()) expect(program.output()).not.toContain(token.slice(-20));
    expect(program.output()).toContain("system:serviceaccount:default:developer");
  }, 180_000);
});
