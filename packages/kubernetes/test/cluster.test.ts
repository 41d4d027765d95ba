import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { LAST_WRITER, lastWriterOf } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { loadKubeconfig } from "../src/index.ts";
import { ConfigMap, configMap } from "./configMap.ts";
import { answer, kubeconfigFor, scriptedApiServer } from "./scriptedApiServer.ts";
import { clusterAt, clusterThat, errorOf, serve } from "./scriptedCluster.ts";

describe("lists", () => {
  it("reads page after page, and gives apart what is not of its kind", async () => {
    const server = await serve(({ path, query }, response) => {
      if (path !== "/api/v1/configmaps") return false;
      return query["continue"] === "more"
        ? answer(response, 200, { metadata: { resourceVersion: "7" }, items: [{ metadata: { name: "c" }, data: "no object" }] })
        : answer(response, 200, {
            metadata: { resourceVersion: "7", continue: "more" },
            items: [configMap("b", "3"), configMap("a", "2")],
          });
    });
    const list = await clusterAt(server).list(ConfigMap, {
      labels: { matchExpressions: [{ key: "x", operator: "NotIn", values: ["1", "2"] }] },
    });
    expect(list.items.map(({ metadata }) => `${metadata.name} ${metadata.clusterName}`)).toEqual(["b a", "a a"]);
    expect(list.malformed.map(({ ref, message }) => [ref.kind, ref.name, ref.clusterName, message])).toEqual([
      ["ConfigMap", "c", "a", "ConfigMap c: data: must be an object"],
    ]);
    expect(list.resourceVersion).toBe("7");
    const queries = server.seen.filter(({ path }) => path === "/api/v1/configmaps").map(({ query }) => query);
    expect(queries).toEqual([
      { limit: "200", labelSelector: "x notin (1,2)" },
      { limit: "200", labelSelector: "x notin (1,2)", continue: "more" },
    ]);
  });

  it("starts again, in one piece, when the pages have expired meanwhile", async () => {
    const cluster = await clusterThat(({ path, query }, response) => {
      if (path !== "/api/v1/configmaps") return false;
      if (query["limit"] === undefined) return answer(response, 200, { metadata: { resourceVersion: "9" }, items: [configMap("a", "2")] });
      if (query["continue"] === undefined)
        return answer(response, 200, { metadata: { continue: "more" }, items: [configMap("gone", "1")] });
      return answer(response, 410, { kind: "Status", code: 410, reason: "Expired", message: "too old" });
    });
    const { items, resourceVersion } = await cluster.list(ConfigMap);
    expect([items.map(({ metadata }) => metadata.name), resourceVersion]).toEqual([["a"], "9"]);
  });
});

it("many requests may have one signal, without a warning of a leak", async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => void warnings.push(name);
  process.on("warning", onWarning);
  const { signal } = new AbortController();
  const cluster = await clusterThat(async ({ path }, response) => {
    if (path !== "/api/v1/configmaps") return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return answer(response, 200, { metadata: { resourceVersion: "1" }, items: [] });
  });
  await Promise.all(Array.from({ length: 20 }, () => cluster.list(ConfigMap, {}, signal)));
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});

describe("answers that are no success", () => {
  it.each([
    [400, "Invalid"],
    [401, "Forbidden"],
    [403, "Forbidden"],
    [405, "Unserved"],
    [409, "Conflict"],
    [410, "Expired"],
    [413, "Invalid"],
    [422, "Invalid"],
    [429, "Unavailable"],
    [500, "Unavailable"],
    [503, "Unavailable"],
    [504, "Unavailable"],
  ])("%i is %s", async (status, code) => {
    const cluster = await clusterThat(
      ({ method }, response) => method === "PATCH" && answer(response, status, { kind: "Status", message: "why" }),
    );
    const error = await errorOf(cluster.apply(configMap("a", "1"), { fieldManager: "m" }));
    expect([error.name, error.code]).toEqual(["ClusterError", code]);
    if (code !== "Unserved") expect(error.message).toContain("why");
  });

  it("tells a user that nobody knows from one who lacks a permission", async () => {
    const asked = async (status: number) =>
      errorOf((await clusterThat((_, response) => answer(response, status, { kind: "Status", message: "no" }))).list(ConfigMap));
    expect((await asked(401)).details).toEqual({ isUnknownUser: true });
    expect((await asked(403)).details).toEqual({});
  });

  it("waits as long as the server asks", async () => {
    const cluster = await clusterThat(
      ({ method }, response) => method === "PATCH" && answer(response, 429, { kind: "Status" }, { "retry-after": "3" }),
    );
    expect((await errorOf(cluster.apply(configMap("a", "1"), { fieldManager: "m" }))).details).toEqual({ retryAfterMs: 3_000 });
  });

  it("takes a webhook's refusal for a judgement on the object", async () => {
    const message = 'admission webhook "validation.istio.io" denied the request: configuration is invalid';
    const cluster = await clusterThat(({ method }, response) => method === "PATCH" && answer(response, 403, { kind: "Status", message }));
    expect(await errorOf(cluster.apply(configMap("a", "1"), { fieldManager: "m" }))).toMatchObject({ code: "Invalid", message });
  });

  it("names the address when nobody listens there", async () => {
    const server = await scriptedApiServer(() => false);
    await server.close();
    const error = await errorOf(clusterAt(server).list(ConfigMap));
    expect(error.code).toBe("Unavailable");
    expect(error.message).toContain(server.url);
    expect(error.message).toContain("ECONNREFUSED");
  });

  it("gives up a server that does not answer", async () => {
    const cluster = await clusterThat(({ path }) => path === "/api/v1/configmaps", { silenceMs: 50 });
    expect(await errorOf(cluster.list(ConfigMap))).toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("no answer within 0.05 s"),
    });
  });

  it("asks a server that is silent only once, also over a connection that was open: it would wait twice as long", async () => {
    const server = await serve(({ path }) => path === "/api/v1/configmaps");
    const cluster = clusterAt(server, { silenceMs: 500 });
    // Opens the connection that the silent request is sent over.
    await cluster.servedKinds();
    expect((await errorOf(cluster.list(ConfigMap))).message).toContain("no answer within 0.5 s");
    expect(server.seen.filter(({ path }) => path === "/api/v1/configmaps")).toHaveLength(1);
  });

  it("gives up a server that takes connections and says nothing to TLS, after the time that its message names", async () => {
    const hanging = createServer().listen(0, "127.0.0.1");
    await once(hanging, "listening");
    const accepted = once(hanging, "connection");
    const { port } = hanging.address() as AddressInfo;
    const kubeconfig = loadKubeconfig({ text: kubeconfigFor(`https://127.0.0.1:${port}`, {}) });
    const failed = errorOf(clusterAt({ kubeconfig }, { silenceMs: 200 }).list(ConfigMap));
    await accepted;
    // Timers end in their order, however busy the machine is.
    const first = await Promise.race([failed, sleep(300).then(() => "nothing yet")]);
    expect(first).toMatchObject({ code: "Unavailable", message: expect.stringContaining("no answer within 0.2 s") });
    hanging.close();
  });

  it("doubts that it is an API server when the answer is not JSON", async () => {
    const cluster = await clusterThat(({ path }, response) => {
      if (path !== "/api/v1/configmaps") return false;
      response.writeHead(200).end("<html>login</html>");
      return true;
    });
    expect(await errorOf(cluster.list(ConfigMap))).toMatchObject({ code: "Unavailable", message: expect.stringContaining("not JSON") });
  });
});

describe("who changed an object last", () => {
  const managedFields = [
    { manager: "kubectl-edit", operation: "Update", time: "2026-01-01T10:00:00Z", fieldsV1: { "f:spec": {} } },
    { manager: "gloo-mesh", operation: "Apply", time: "2026-01-01T11:00:00Z", subresource: "status", fieldsV1: { "f:status": {} } },
  ];
  const { metadata, ...rest } = configMap("a", "1");
  const stored = {
    ...rest,
    metadata: { ...metadata, annotations: { a: "b", [LAST_WRITER]: "2026-01-01T09:00:00Z admin" }, managedFields },
  };
  const script: Parameters<typeof clusterThat>[0] = ({ method, path, body, query }, response) => {
    if (method === "PATCH") return answer(response, 200, body);
    if (path !== "/api/v1/configmaps") return false;
    if (query["watch"] === undefined) return answer(response, 200, { metadata: { resourceVersion: "1" }, items: [stored] });
    response.writeHead(200).end(`${JSON.stringify({ type: "MODIFIED", object: stored })}\n`);
    return true;
  };

  it("is kept of the kinds that are asked for, by lists and watches, and is never written", async () => {
    const server = await serve(script);
    const cluster = clusterAt(server, { keepsLastWriter: ({ kind }) => kind === ConfigMap.kind });
    const [listed] = (await cluster.list(ConfigMap)).items;
    expect(listed && lastWriterOf(listed)).toEqual({ manager: "kubectl-edit", time: "2026-01-01T10:00:00Z" });
    const events = cluster.watch(ConfigMap, "1", {}, new AbortController().signal);
    const { value } = await events[Symbol.asyncIterator]().next();
    expect(value).toMatchObject({ type: "put", resource: { metadata: { annotations: listed?.metadata.annotations } } });
    await cluster.apply(listed ?? expect.fail("nothing"), { fieldManager: "m" });
    expect(server.seen.at(-1)?.body).toMatchObject({ metadata: { annotations: { a: "b" } } });
    expect(JSON.stringify(server.seen.at(-1)?.body)).not.toContain(LAST_WRITER);
  });

  it("is not kept of others, nor where nobody asks for it", async () => {
    for (const options of [{}, { keepsLastWriter: () => false }]) {
      const [listed] = (await (await clusterThat(script, options)).list(ConfigMap)).items;
      expect(listed?.metadata.annotations?.["a"]).toBe("b");
      expect(JSON.stringify(listed)).not.toContain("kubectl-edit");
    }
  });
});

describe("requests", () => {
  it("takes off what exists only in memory, and quotes names", async () => {
    const server = await serve(({ method, body }, response) => method === "PATCH" && answer(response, 200, body));
    const { metadata, ...rest } = configMap("a:b", "1");
    const written = { ...rest, metadata: { ...metadata, clusterName: "a", managedFields: [{ manager: "x" }] } };
    const stored = await clusterAt(server).apply(written, { fieldManager: "m", force: true, dryRun: true });
    const { path, query, body, headers } = server.seen.at(-1) ?? {};
    expect(path).toBe("/api/v1/namespaces/default/configmaps/a%3Ab");
    expect(query).toEqual({ fieldManager: "m", force: "true", dryRun: "All" });
    expect(body).toEqual(configMap("a:b", "1"));
    expect(headers?.["content-type"]).toBe("application/apply-patch+yaml");
    expect(stored.metadata.clusterName).toBe("a");
  });

  it.each(["", ".", ".."])("refuses the name %j, which would change the path", async (name) => {
    const cluster = await clusterThat(() => false);
    expect(await errorOf(cluster.get(ConfigMap, { name, namespace: "default" }))).toMatchObject({ code: "Invalid" });
    expect(await errorOf(cluster.get(ConfigMap, { name: "a", namespace: name }))).toMatchObject({ code: "Invalid" });
  });

  it("renews credentials that are refused, once", async () => {
    let runs = 0;
    const server = await serve(({ headers, path }, response) => {
      if (headers.authorization === "Bearer old") return answer(response, 401, { kind: "Status", message: "Unauthorized" });
      return path === "/api/v1/configmaps" && answer(response, 200, { metadata: { resourceVersion: "1" }, items: [] });
    });
    const tokens = ["old", "new"];
    const kubeconfig = {
      server: server.url,
      credentials: async () => ({ headers: { authorization: `Bearer ${tokens[runs++] ?? "none"}` }, tls: {} }),
    };
    const cluster = clusterAt({ kubeconfig });
    await Promise.all([cluster.list(ConfigMap), cluster.list(ConfigMap)]);
    expect(runs).toBe(2);
  });

  it("uses an exec plugin's token, and says what it says when it fails", async () => {
    const plugin = (script: string) => ({
      exec: { apiVersion: "client.authentication.k8s.io/v1", command: "node", args: ["-e", script], interactiveMode: "Never" },
    });
    const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token: "plugged" } };
    const server = await serve(({ path }, response) => path === "/api/v1/configmaps" && answer(response, 200, { items: [] }));
    const works = loadKubeconfig({ text: kubeconfigFor(server.url, plugin(`console.log(${JSON.stringify(JSON.stringify(credential))})`)) });
    await clusterAt({ kubeconfig: works }).list(ConfigMap);
    expect(server.seen.at(-1)?.headers.authorization).toBe("Bearer plugged");

    const fails = loadKubeconfig({ text: kubeconfigFor(server.url, plugin("console.error('log in first'); process.exit(1)")) });
    expect(await errorOf(clusterAt({ kubeconfig: fails }).list(ConfigMap))).toMatchObject({
      code: "Forbidden",
      message: expect.stringContaining("log in first"),
    });
  });
});

describe("discovery", () => {
  it("reads the aggregated form, does not fetch it twice, and tells unknown from not served", async () => {
    const discovery = (group: string, version: string, resources: readonly unknown[], freshness = "Current") => ({
      metadata: group === "" ? {} : { name: group },
      versions: [{ version, resources, freshness }],
    });
    const configMaps = { resource: "configmaps", responseKind: { group: "", version: "v1", kind: "ConfigMap" }, scope: "Namespaced" };
    const server = await serve(({ path, headers }, response) => {
      if (path !== "/api" && path !== "/apis") return false;
      if (headers["if-none-match"] === '"1"') {
        response.writeHead(304).end();
        return true;
      }
      const items = path === "/api" ? [discovery("", "v1", [configMaps])] : [discovery("metrics.k8s.io", "v1", [], "Stale")];
      return answer(response, 200, { kind: "APIGroupDiscoveryList", items }, { etag: '"1"' });
    });
    const cluster = clusterAt(server);
    expect(await cluster.servedKinds()).toEqual([{ apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true }]);
    expect(await cluster.servedKinds()).toHaveLength(1);
    expect(server.seen.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, undefined, '"1"', '"1"']);

    const unknown = { ...ConfigMap, apiVersion: "metrics.k8s.io/v1", versions: ["metrics.k8s.io/v1"], kind: "NodeMetrics" };
    expect(await errorOf(cluster.list(unknown))).toMatchObject({ code: "Unavailable" });
    const missing = { ...ConfigMap, apiVersion: "x.io/v1", versions: ["x.io/v2", "x.io/v1"], kind: "Thing" };
    expect(await errorOf(cluster.list(missing))).toMatchObject({
      code: "Unserved",
      message: "the cluster does not serve Thing (x.io/v2, x.io/v1): install its CRD",
    });
  });

  it("looks again after a path has gone", async () => {
    let isServed = true;
    const server = await serve(({ path }, response) => path === "/api/v1/configmaps" && isServed && answer(response, 200, { items: [] }));
    const cluster = clusterAt(server);
    await cluster.list(ConfigMap);
    isServed = false;
    expect(await errorOf(cluster.list(ConfigMap))).toMatchObject({
      code: "Unserved",
      message: expect.stringContaining("/api/v1/configmaps"),
    });
    const before = server.seen.length;
    isServed = true;
    await cluster.list(ConfigMap);
    expect(server.seen.slice(before).map(({ path }) => path)).toContain("/api/v1");
  });
});
