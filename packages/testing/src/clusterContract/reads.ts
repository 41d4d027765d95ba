import { type AnyResource, InvalidResource, type Kind } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { ContractConfigMap, ContractDeployment, type Current, configMap, dataOf, deployment, rejectionOf, Unicorn } from "./subject.ts";

/** Tests of `get`, `list` and `servedKinds`: selectors, pages, malformed objects, versions, and what is not served. */
export function readContract(current: Current): void {
  describe("reads", () => {
    it("give undefined for an object that is not there, and one that is with its cluster's name and field managers", async () => {
      const subject = current();
      const wanted = configMap(subject, { key: "value" });
      const { name } = wanted.metadata;
      const { cluster, namespace } = subject;
      expect(await cluster.get(ContractConfigMap, { name, namespace })).toBeUndefined();
      expect(await cluster.get(ContractConfigMap, { name, namespace: "contract-nowhere" })).toBeUndefined();
      await cluster.apply(wanted, { fieldManager: "reader" });
      const found = await cluster.get(ContractConfigMap, { name, namespace });
      expect(found).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { key: "value" } });
      expect(found?.metadata.clusterName ?? "").toBe(cluster.name);
      expect(found?.metadata.managedFields).toHaveLength(1);
    });

    it("list what labels and requirements select, in order of name, without field managers", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const suite = { suite: subject.name() };
      const objects: readonly [string, Record<string, string>][] = [
        ["c", { tier: "front", zone: "a" }],
        ["a", { tier: "back", zone: "a" }],
        ["b", { tier: "back" }],
      ];
      for (const [name, labels] of objects) {
        await cluster.create(configMap(subject, {}, { name: `${suite.suite}-${name}`, labels: { ...labels, ...suite } }));
      }
      const select = async (labels: object) => {
        const { items } = await cluster.list(ContractConfigMap, { namespace, labels: { matchLabels: suite, ...labels } });
        expect(items.every(({ metadata }) => metadata.managedFields === undefined)).toBe(true);
        return items.map(({ metadata }) => metadata.name.slice(-1)).join("");
      };
      const requirement = (key: string, operator: string, values?: readonly string[]) =>
        select({ matchExpressions: [{ key, operator, ...(values === undefined ? {} : { values }) }] });
      expect(await select({})).toBe("abc");
      expect(await select({ matchLabels: { ...suite, tier: "back" } })).toBe("ab");
      expect(await requirement("tier", "In", ["front", "middle"])).toBe("c");
      expect(await requirement("zone", "NotIn", ["b", "c"])).toBe("abc");
      expect(await requirement("zone", "NotIn", ["a"])).toBe("b");
      expect(await requirement("zone", "Exists")).toBe("ac");
      expect(await requirement("zone", "DoesNotExist")).toBe("b");
    });

    it("list all namespaces, or one", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const created = await cluster.create(configMap(subject, {}));
      const { name } = created.metadata;
      const names = async (options: object) => (await cluster.list(ContractConfigMap, options)).items.map(({ metadata }) => metadata.name);
      expect(await names({})).toContain(name);
      expect(await names({ namespace })).toContain(name);
      expect(await names({ namespace: "default" })).not.toContain(name);
    });

    it("list one object by its name", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const { name } = (await cluster.create(configMap(subject, {}))).metadata;
      await cluster.create(configMap(subject, {}, { name: `${name}-2` }));
      const named = async (of: string) =>
        (await cluster.list(ContractConfigMap, { namespace, name: of })).items.map(({ metadata }) => metadata.name);
      expect(await named(name)).toEqual([name]);
      expect(await named(`${name}-3`)).toEqual([]);
    });

    it("list more objects than a page holds, each once", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const labels = { pages: subject.name() };
      // More than two of our client's pages of 200.
      const wanted = Array.from({ length: 501 }, (_, i) => configMap(subject, { number: String(i) }, { labels }));
      for (let start = 0; start < wanted.length; start += 25) {
        await Promise.all(wanted.slice(start, start + 25).map((resource) => cluster.create(resource)));
      }
      const { items } = await cluster.list(ContractConfigMap, { namespace, labels: { matchLabels: labels } });
      expect(new Set(items.map((item) => dataOf(item)["number"])).size).toBe(501);
      expect(items).toHaveLength(501);
    }, 60_000);

    it("list of each object what is to be kept", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const labels = { kept: subject.name() };
      const { metadata } = await cluster.create(configMap(subject, { large: "x" }, { labels }));
      const { items } = await cluster.list(ContractConfigMap, {
        namespace,
        labels: { matchLabels: labels },
        transform: (resource) => ({ ...resource, data: { size: String(dataOf(resource)["large"]?.length) } }),
      });
      expect(items.map((item) => [item.metadata.name, dataOf(item)])).toEqual([[metadata.name, { size: "1" }]]);
    });

    it("list objects that their kind does not understand apart, each with its reason", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const labels = { picky: subject.name() };
      const good = await cluster.create(configMap(subject, { port: "80" }, { labels }));
      const bad = await cluster.create(configMap(subject, { port: "eighty" }, { labels }));
      const list = await cluster.list(PickyConfigMap, { namespace, labels: { matchLabels: labels } });
      expect(list.items.map(({ metadata }) => metadata.name)).toEqual([good.metadata.name]);
      expect(list.malformed).toHaveLength(1);
      expect(list.malformed[0]?.ref).toMatchObject({ kind: "ConfigMap", name: bad.metadata.name, namespace, clusterName: cluster.name });
      expect(list.malformed[0]?.message).toContain("data.port");
      await rejectionOf(cluster.get(PickyConfigMap, { name: bad.metadata.name, namespace }), "Invalid");
    });

    it("name the kinds that are served, and refuse others", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const served = await cluster.servedKinds();
      expect(served).toContainEqual({ apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", namespaced: true });
      expect(served).toContainEqual({ apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false });
      const unicorn = { apiVersion: Unicorn.apiVersion, kind: Unicorn.kind, metadata: { name: "moon", namespace } };
      const ref = { ...Unicorn, name: "moon", namespace, clusterName: cluster.name };
      await rejectionOf(cluster.list(Unicorn), "Unserved");
      await rejectionOf(cluster.get(Unicorn, ref), "Unserved");
      await rejectionOf(cluster.create(unicorn), "Unserved");
      await rejectionOf(cluster.update(unicorn), "Unserved");
      await rejectionOf(cluster.apply(unicorn, { fieldManager: "reader" }), "Unserved");
      await rejectionOf(cluster.delete(ref), "Unserved");
      await rejectionOf(cluster.updateStatus(configMap(subject, {})), "Unserved");
    });

    it("read a kind in the first of its versions that is served", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const created = await cluster.create(deployment(subject));
      const future = { ...ContractDeployment, apiVersion: "apps/v9", versions: ["apps/v9", "apps/v1"] };
      const found = await cluster.get(future, { name: created.metadata.name, namespace });
      expect(found).toMatchObject({ apiVersion: "apps/v1" });
      await rejectionOf(cluster.list({ ...future, versions: ["apps/v9"] }), "Unserved");
    });

    it("stop when aborted", async () => {
      const reason = new Error("no longer wanted");
      await expect(current().cluster.list(ContractConfigMap, {}, AbortSignal.abort(reason))).rejects.toBe(reason);
    });
  });
}

/** A ConfigMap that holds a port. */
export const PickyConfigMap: Kind<AnyResource> = {
  ...ContractConfigMap,
  parse(input) {
    const resource = input as AnyResource;
    const port = dataOf(resource)["port"];
    if (port === undefined || /^\d+$/.test(port)) return resource;
    throw new InvalidResource(`ConfigMap ${resource.metadata.name}`, "data.port", `"${port}" is not a number`);
  },
};
