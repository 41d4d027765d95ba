import { describe, expect, it } from "vitest";
import { servedCluster } from "./servedCluster.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const map = (name: string, data: object = {}) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });

describe("an API server of a simulated cluster", () => {
  it("knows its users, and nobody else", async () => {
    const { send, server } = await servedCluster();
    expect(await send("GET", MAPS, undefined, { authorization: "Bearer nobody" })).toMatchObject({ code: 401 });
    const stranger = server.addUser({ name: "jane", uid: "1", groups: ["system:authenticated"] });
    const refused = await send("GET", MAPS, undefined, { authorization: `Bearer ${stranger}` });
    expect(refused).toMatchObject({
      code: 403,
      json: {
        message: 'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"',
      },
    });
  });

  it("gives lists page by page, as they were when the first page was read", async () => {
    const { send } = await servedCluster();
    for (const name of ["a", "b", "c"]) await send("POST", MAPS, map(name));
    const first = await send("GET", `${MAPS}?limit=2`);
    const { metadata, items } = first.json as { metadata: { continue: string; remainingItemCount: number }; items: unknown[] };
    expect(items).toHaveLength(2);
    expect(metadata.remainingItemCount).toBe(1);
    await send("DELETE", `${MAPS}/c`);
    const second = await send("GET", `${MAPS}?limit=2&continue=${metadata.continue}`);
    expect(second.json["items"]).toMatchObject([{ metadata: { name: "c" } }]);
  });

  it("says that a page or a watch of which the past is forgotten begins again", async () => {
    const { send, cluster } = await servedCluster();
    for (const name of ["a", "b"]) await send("POST", MAPS, map(name));
    const { metadata } = (await send("GET", `${MAPS}?limit=1`)).json as { metadata: { continue: string; resourceVersion: string } };
    await send("POST", MAPS, map("c"));
    cluster.faults.compact();
    expect(await send("GET", `${MAPS}?limit=1&continue=${metadata.continue}`)).toMatchObject({ code: 410, json: { reason: "Expired" } });
    const watch = await send("GET", `${MAPS}?watch=true&resourceVersion=${metadata.resourceVersion}&timeoutSeconds=5`);
    expect(JSON.parse(watch.text)).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  });

  it("sends bookmarks to those who ask for them", async () => {
    const { send } = await servedCluster({ bookmarkMs: 20 });
    const { text } = await send("GET", `${MAPS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=1`);
    const events = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; object: object });
    expect(events[0]).toMatchObject({
      type: "BOOKMARK",
      object: { kind: "ConfigMap", metadata: { resourceVersion: expect.stringMatching(/^\d+$/) } },
    });
    expect((await send("GET", `${MAPS}?watch=true&timeoutSeconds=1`)).text).toBe("");
  });

  it("deletes a namespace with all that is in it, where controllers run", async () => {
    const { send, cluster } = await servedCluster();
    await send("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
    await send("POST", "/api/v1/namespaces/shop/configmaps", { metadata: { name: "a" } });
    expect(await send("DELETE", "/api/v1/namespaces/shop")).toMatchObject({ code: 200, json: { status: { phase: "Terminating" } } });
    expect(await send("POST", "/api/v1/namespaces/shop/configmaps", { metadata: { name: "b" } })).toMatchObject({ code: 403 });
    await send("DELETE", "/api/v1/namespaces/shop/configmaps");
    expect(cluster.object({ apiVersion: "v1", kind: "Namespace", name: "shop", namespace: "" })).toBeUndefined();
  });

  it("lets dependents go with their owner, or without it, as the deletion asks", async () => {
    const { send } = await servedCluster();
    for (const name of ["owner", "other"]) {
      const { json } = await send("POST", MAPS, map(name));
      const { uid } = json["metadata"] as { uid: string };
      await send("POST", MAPS, {
        ...map(`of-${name}`),
        metadata: { name: `of-${name}`, ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name, uid }] },
      });
    }
    await send("DELETE", `${MAPS}/owner?propagationPolicy=Foreground`);
    await send("DELETE", `${MAPS}/other?propagationPolicy=Orphan`);
    expect((await send("GET", `${MAPS}/of-owner`)).code).toBe(404);
    const orphan = await send("GET", `${MAPS}/of-other`);
    expect(orphan.code).toBe(200);
    expect(orphan.json["metadata"]).not.toHaveProperty("ownerReferences");
  });

  it("refuses an eviction that a budget forbids", async () => {
    const labels = { app: "web" };
    const { send } = await servedCluster({
      resources: [
        { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "default", labels }, status: { phase: "Running" } } as never,
        {
          apiVersion: "policy/v1",
          kind: "PodDisruptionBudget",
          metadata: { name: "web", namespace: "default" },
          spec: { selector: { matchLabels: labels } },
          status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 },
        } as never,
      ],
    });
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "web", namespace: "default" } };
    expect(await send("POST", "/api/v1/namespaces/default/pods/web/eviction", eviction)).toMatchObject({
      code: 429,
      json: {
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: { causes: [{ message: "The disruption budget web needs 1 healthy pods and has 1 currently" }] },
      },
    });
  });

  it("does not read a body that is too large", async () => {
    const { send } = await servedCluster();
    const refused = await send("POST", MAPS, map("large", { a: "x".repeat(4 * 1024 * 1024) })).catch(() => ({ code: 413 }));
    expect(refused.code).toBe(413);
    expect((await send("GET", `${MAPS}/large`)).code).toBe(404);
  });

  it("does not copy a patch's copies without end", async () => {
    const { send } = await servedCluster();
    await send("POST", MAPS, map("a", { a: "1".repeat(1000) }));
    const doubled = Array.from({ length: 40 }, (_, i) => ({ op: "copy", from: "", path: `/data/c${i}` }));
    const refused = await send("PATCH", `${MAPS}/a`, doubled, { "content-type": "application/json-patch+json" });
    expect(refused.code).toBe(413);
  });
});
