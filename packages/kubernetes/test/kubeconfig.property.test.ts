import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { runs } from "@isthmus/testing";
import { KubeConfig } from "@kubernetes/client-node";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { contentOfFile, contentOfText, defaultContent, type KubeconfigContent, serviceAccountContent } from "../src/kubeconfigFile.ts";
import { presenting } from "../src/kubeconfigUser.ts";

const folder = mkdtempSync(join(tmpdir(), "isthmus-kubeconfig-"));
afterAll(() => rmSync(folder, { recursive: true }));
for (const file of ["ca.crt", "client.crt", "client.key", "token"]) writeFileSync(join(folder, file), `content of ${file}\n`);

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const some = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const plugin = { apiVersion: "client.authentication.k8s.io/v1", command: process.execPath, args: ["-e", credentialOf("from-plugin")] };

function credentialOf(token: string): string {
  return `console.log('{"status":{"token":"${token}","clientCertificateData":"C","clientKeyData":"K"}}')`;
}

const cluster = fc.record(
  {
    server: some("https://a.example:6443/", "https://a.example/path", "https://b", "http://127.0.0.1:8080", "not a URL"),
    "certificate-authority-data": some(base64("CA"), ""),
    "certificate-authority": some("ca.crt", join(folder, "ca.crt"), "", "missing.crt"),
    "insecure-skip-tls-verify": fc.boolean(),
    "tls-server-name": some("inner.example", ""),
  },
  { requiredKeys: ["server"] },
);
const user = fc.record(
  {
    token: some<unknown>("t", "", 12, undefined),
    "token-file": some(join(folder, "token")),
    username: some("ann", ""),
    password: some("pw"),
    "client-certificate": some("client.crt", "", "missing.crt"),
    "client-certificate-data": some(base64("CERT")),
    "client-key": some("client.key", ""),
    "client-key-data": some(base64("KEY")),
    as: some("somebody"),
    exec: some(null, null, null, plugin),
    "auth-provider": some(
      null,
      null,
      { name: "tokenFile", config: { tokenFile: join(folder, "token") } },
      { name: "unknown" },
      { name: "exec", config: { exec: plugin } },
    ),
  },
  { requiredKeys: [] },
);
// One user of one cluster is meant in most of them.
const context = fc.record(
  { cluster: some("one", "one", "two"), user: some("one", "one", "one", "two", undefined) },
  { requiredKeys: ["cluster"] },
);
const entries = <T>(key: string, value: fc.Arbitrary<T>): fc.Arbitrary<readonly unknown[]> =>
  fc
    .tuple(value, fc.option(value, { nil: undefined }))
    .map(([one, two]) => [{ name: "one", [key]: one }, ...(two === undefined ? [] : [{ name: "two", [key]: two }])]);
const kubeconfig = fc.record({
  clusters: entries("cluster", cluster),
  users: entries("user", fc.option(user, { nil: null, freq: 10 })),
  contexts: entries("context", context),
  "current-context": some("one", "one", "one", "two", ""),
});

// A plugin takes longer than all else: few random users have nothing that keeps it from being run.
const PLUGIN_ONLY = {
  clusters: [{ name: "one", cluster: { server: "https://a.example" } }],
  users: [{ name: "one", user: { exec: plugin, as: "somebody" } }],
  contexts: [{ name: "one", context: { cluster: "one", user: "one" as const } }],
  "current-context": "one" as const,
};

interface Seen {
  readonly content?: unknown;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly refused?: string;
}

/** What requests are made with, without the parts of the library that nobody uses. */
function relevant({ ca, cert, key, auth, headers }: RequestOptions): Readonly<Record<string, unknown>> {
  const set = Object.entries({ ca, cert, key, auth }).filter(([, value]) => value);
  return { ...Object.fromEntries(set.map(([name, value]) => [name, String(value)])), headers: { ...(headers as object) } };
}

async function asLibrary(load: (config: KubeConfig) => void): Promise<Seen> {
  const config = new KubeConfig();
  try {
    load(config);
    const { clusters, users, contexts, currentContext } = config;
    const content = JSON.stringify({ clusters, users, contexts, currentContext });
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    return { content, options: relevant(options) };
  } catch (error) {
    return refusal(error);
  }
}

/** Where there are several reasons, any of them is right: files are read in another order than plugins are run. */
function refusal(error: unknown): Seen {
  const { message } = error as Error;
  return { refused: /ENOENT|HTTP protocol|is not encrypted/.test(message) ? "a file or a server" : message };
}

async function asOurs(load: () => KubeconfigContent): Promise<Seen> {
  try {
    const content = load();
    const { clusters, users, contexts, currentContext } = content;
    const chosen = contexts.find(({ name }) => name === currentContext);
    const present = presenting(content, {
      cluster: chosen && clusters.find(({ name }) => name === chosen.cluster),
      user: chosen && users.find(({ name }) => name === chosen.user),
    });
    return { content: JSON.stringify({ clusters, users, contexts, currentContext }), options: relevant(await present()) };
  } catch (error) {
    return refusal(error);
  }
}

it("means what the library takes it for", async () => {
  const path = join(folder, "config");
  await fc.assert(
    fc.asyncProperty(kubeconfig, async (given) => {
      const text = JSON.stringify(given);
      writeFileSync(path, text);
      expect(await asOurs(() => contentOfText(text))).toEqual(await asLibrary((config) => config.loadFromString(text)));
      expect(await asOurs(() => contentOfFile(path))).toEqual(await asLibrary((config) => config.loadFromFile(path)));
    }),
    { numRuns: runs(60), examples: [[PLUGIN_ONLY]] },
  );
}, 120_000);

it.each([
  "clusters: [{name: a, cluster: {server: 'https://a'}}]\nusers: [{name: u, user: {token: 2020-01-01}}]\ncontexts: [{name: a, context: {cluster: a, user: u}}]\ncurrent-context: a\n",
  "clusters: [{name: a}]",
  "clusters: [{cluster: {server: x}}]",
  "contexts: [{name: a, context: {}}]",
  "users: [{user: {}}]",
  "a: [",
  "",
  "text",
  "a: &x [1]\nusers: *x",
])("is refused as by the library: %j", async (text) => {
  expect(await asOurs(() => contentOfText(text))).toEqual(await asLibrary((config) => config.loadFromString(text)));
});

/** Where the default kubeconfig is looked for. */
async function inEnvironment<T>(env: Readonly<Record<string, string | undefined>>, act: () => Promise<T>): Promise<T> {
  const set = (values: Readonly<Record<string, string | undefined>>) => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]));
  set(env);
  try {
    return await act();
  } finally {
    set(before);
  }
}

it("is put together of the files in KUBECONFIG, as by the library", async () => {
  const paths = ["first", "second"].map((name) => join(folder, name));
  await fc.assert(
    fc.asyncProperty(kubeconfig, kubeconfig, async (...given) => {
      for (const [i, path] of paths.entries()) writeFileSync(path, JSON.stringify(given[i]));
      await inEnvironment({ KUBECONFIG: paths.join(delimiter) }, async () => {
        const ours = await asOurs(() => defaultContent() as KubeconfigContent);
        expect(ours).toEqual(await asLibrary((config) => config.loadFromDefault()));
      });
    }),
    { numRuns: runs(40) },
  );
}, 120_000);

it("is found in the home directory, as by the library", async () => {
  const home = join(folder, "home");
  mkdirSync(join(home, ".kube"), { recursive: true });
  await inEnvironment({ KUBECONFIG: undefined, HOME: home }, async () => {
    expect(defaultContent()).toBeUndefined();
    const text = "clusters: [{name: a, cluster: {server: 'https://a', certificate-authority: ca.crt}}]\n";
    writeFileSync(join(home, ".kube", "config"), text);
    const ours = await asOurs(() => defaultContent() as KubeconfigContent);
    expect(ours.content).toContain(JSON.stringify(join(home, ".kube", "ca.crt")));
    expect(ours).toEqual(await asLibrary((config) => config.loadFromDefault()));
  });
});

it.each([
  ["10.96.0.1", "443", "https://10.96.0.1:443"],
  ["fd00::1", "6443", "https://[fd00::1]:6443"],
  ["127.0.0.1", "8080", "http://127.0.0.1:8080"],
])("is that of a pod's service account at %s:%s, as for the library", async (host, port, server) => {
  await inEnvironment({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }, async () => {
    const library = new KubeConfig();
    library.loadFromCluster();
    const { clusters, users, contexts, currentContext } = library;
    const [context] = contexts.map(({ namespace: _, ...rest }) => rest);
    expect(serviceAccountContent(process.env)).toEqual({ clusters, users, contexts: [context], currentContext });
    expect(clusters[0]?.server).toBe(server);
  });
});
