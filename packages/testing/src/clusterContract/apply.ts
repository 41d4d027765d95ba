import type { AnyResource, JsonObject } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import { describe, expect, it } from "vitest";
import {
  type Current,
  changed,
  configMap,
  containersOf,
  dataOf,
  deployment,
  live,
  managersOf,
  rejectionOf,
  type Subject,
  service,
  specOf,
} from "./subject.ts";

const alice = { fieldManager: "alice" };
const bob = { fieldManager: "bob" };

/** Tests of server-side apply: ownership and conflicts of fields, keyed lists, defaults, dry runs, and `applyStatus`. */
export function applyContract(current: Current): void {
  describe("apply", () => {
    it("creates an object, and keeps its version when nothing changes", async () => {
      const subject = current();
      const wanted = deployment(subject);
      const created = await subject.cluster.apply(wanted, alice);
      expect(created.metadata).toMatchObject({ name: wanted.metadata.name, generation: 1 });
      expect(managersOf(await live(subject, wanted), "Apply")).toEqual(["alice"]);
      const again = await subject.cluster.apply(wanted, alice);
      expect(again.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    });

    it("changes what differs, and counts a change of the spec", async () => {
      const subject = current();
      const wanted = deployment(subject);
      await subject.cluster.apply(wanted, alice);
      const updated = await subject.cluster.apply(changed(wanted, { spec: { ...specOf(wanted), replicas: 2 } }), alice);
      expect(updated.metadata.generation).toBe(2);
      expect(specOf(updated)["replicas"]).toBe(2);
    });

    it("removes what its manager no longer applies, and nothing else", async () => {
      const subject = current();
      const wanted = configMap(subject, { mine: "1", old: "1" });
      await subject.cluster.apply(wanted, alice);
      await subject.cluster.apply(changed(wanted, { data: { theirs: "2" } }), bob);
      const without = await subject.cluster.apply(changed(wanted, { data: { mine: "1" } }), alice);
      expect(dataOf(without)).toEqual({ mine: "1", theirs: "2" });
      const { data: _, ...empty } = wanted;
      expect(dataOf(await subject.cluster.apply(empty as AnyResource, alice))).toEqual({ theirs: "2" });
      expect(managersOf(await live(subject, wanted), "Apply")).toEqual(["bob"]);
    });

    it("falls back to the default of a field that is no longer applied", async () => {
      const subject = current();
      const wanted = deployment(subject);
      await subject.cluster.apply(changed(wanted, { spec: { ...specOf(wanted), replicas: 5 } }), alice);
      expect(specOf(await subject.cluster.apply(wanted, alice))["replicas"]).toBe(1);
    });

    it("refuses to change another manager's field, naming both", async () => {
      const subject = current();
      const wanted = configMap(subject, { shared: "alice's", other: "1" });
      const created = await subject.cluster.apply(wanted, alice);
      const error = await rejectionOf(subject.cluster.apply(changed(wanted, { data: { shared: "bob's" } }), bob), "Conflict");
      expect(error.details).toMatchObject({ fields: ["data.shared"], manager: "alice" });
      expect(error.message).toContain("alice");
      const unchanged = await live(subject, wanted);
      expect(unchanged.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    });

    it("shares a field with a manager that wants the same, until both have left it", async () => {
      const subject = current();
      const wanted = configMap(subject, { shared: "same" });
      const { data: _, ...empty } = wanted;
      await subject.cluster.apply(wanted, alice);
      await subject.cluster.apply(wanted, bob);
      expect([...managersOf(await live(subject, wanted), "Apply")].sort()).toEqual(["alice", "bob"]);
      expect(dataOf(await subject.cluster.apply(empty as AnyResource, alice))).toEqual({ shared: "same" });
      expect(dataOf(await subject.cluster.apply(empty as AnyResource, bob))).toEqual({});
    });

    it("takes a field over by force", async () => {
      const subject = current();
      const wanted = configMap(subject, { shared: "alice's" });
      const bobs = changed(wanted, { data: { shared: "bob's" } });
      await subject.cluster.apply(wanted, alice);
      expect(dataOf(await subject.cluster.apply(bobs, { ...bob, force: true }))).toEqual({ shared: "bob's" });
      expect(managersOf(await live(subject, wanted), "Apply")).toEqual(["bob"]);
      const error = await rejectionOf(subject.cluster.apply(wanted, alice), "Conflict");
      expect(error.details.manager).toBe("bob");
    });

    it("respects what was created or updated by others", async () => {
      const subject = current();
      const wanted = configMap(subject, { set: "created" });
      await subject.cluster.create(wanted);
      const error = await rejectionOf(subject.cluster.apply(changed(wanted, { data: { set: "applied" } }), alice), "Conflict");
      expect(error.details.fields).toEqual(["data.set"]);
      const added = await subject.cluster.apply(changed(wanted, { data: { added: "applied" } }), alice);
      const updated = await subject.cluster.update(changed(added, { data: { set: "created", added: "updated" } }));
      expect(dataOf(updated)).toEqual({ set: "created", added: "updated" });
      await rejectionOf(subject.cluster.apply(changed(wanted, { data: { added: "applied" } }), alice), "Conflict");
    });

    it("undoes what was created, once that is said to have been applied", async () => {
      const subject = current();
      const created = configMap(subject, { kept: "1", old: "1" });
      await subject.cluster.create(created);
      const found = await live(subject, created);
      const managedFields = (found.metadata.managedFields ?? []).map((entry): JsonObject => ({ ...entry, operation: "Apply" }));
      const fieldManager = String(managedFields[0]?.["manager"]);
      const claimed = await subject.cluster.update({ ...found, metadata: { ...found.metadata, managedFields } });
      expect(claimed.metadata.resourceVersion).not.toBe(found.metadata.resourceVersion);
      expect(managersOf(await live(subject, created), "Apply")).toEqual([fieldManager]);
      const wanted = changed(created, { data: { kept: "1" } });
      expect(dataOf(await subject.cluster.apply(wanted, { fieldManager, force: true }))).toEqual({ kept: "1" });
    });

    it("takes fields that only defaults have set without force", async () => {
      const subject = current();
      const wanted = service(subject, { selector: { app: "web" }, ports: [{ name: "http", port: 80 }] });
      await subject.cluster.apply(wanted, alice);
      const spec = { sessionAffinity: "ClientIP" };
      const updated = await subject.cluster.apply(changed(wanted, { spec }), bob);
      expect(specOf(updated)).toMatchObject({ sessionAffinity: "ClientIP", selector: { app: "web" } });
    });

    it("of nothing but a dry run writes nothing", async () => {
      const subject = current();
      const wanted = configMap(subject, { key: "dry" });
      expect(dataOf(await subject.cluster.apply(wanted, { ...alice, dryRun: true }))).toEqual({ key: "dry" });
      await expect(live(subject, wanted)).rejects.toThrow("not there");
      const created = await subject.cluster.apply(wanted, alice);
      await subject.cluster.apply(changed(wanted, { data: { key: "wet" } }), { ...alice, dryRun: true });
      expect((await live(subject, wanted)).metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    });

    it("of one annotation of a pod template changes nothing else, and only of the very object that was looked at", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const created = await cluster.create(deployment(subject));
      const { apiVersion, kind } = created;
      const { name, uid = "" } = created.metadata;
      const annotating = (of: string, annotated: string) =>
        ({
          ...{ apiVersion, kind, metadata: { name: annotated, namespace, uid: of } },
          spec: { template: { metadata: { annotations: { "isthmus.mesh/test": "now" } } } },
        }) as AnyResource;
      const other = annotating("00000000-0000-0000-0000-000000000000", name);
      await expect(cluster.apply(other, { ...alice, force: true })).rejects.toBeInstanceOf(ClusterError);
      const applied = await cluster.apply(annotating(uid, name), { ...alice, force: true });
      expect(applied.metadata.generation).toBe(2);
      const [before, { template, ...after }] = [specOf(created), specOf(applied)] as readonly [
        Readonly<Record<string, unknown>>,
        Readonly<Record<string, unknown>> & { readonly template?: { readonly metadata?: object } },
      ];
      const { template: old, ...rest } = before as typeof before & { readonly template?: { readonly metadata?: object } };
      expect(after).toEqual(rest);
      expect(template).toEqual({ ...old, metadata: { ...old?.metadata, annotations: { "isthmus.mesh/test": "now" } } });
    });

    it("treats labels and annotations one by one", async () => {
      const subject = current();
      const wanted = configMap(subject, { both: "agree" }, { labels: { alice: "yes" } });
      await subject.cluster.apply(wanted, alice);
      const bobs = { ...wanted, metadata: { ...wanted.metadata, labels: { bob: "yes" }, annotations: { note: "bob's" } } };
      const { metadata } = await subject.cluster.apply(bobs, bob);
      expect(metadata).toMatchObject({ labels: { alice: "yes", bob: "yes" }, annotations: { note: "bob's" } });
      const error = await rejectionOf(
        subject.cluster.apply({ ...wanted, metadata: { ...wanted.metadata, labels: { bob: "no" } } }, alice),
        "Conflict",
      );
      expect(error.details.fields).toEqual(["metadata.labels.bob"]);
    });
  });

  describe("apply to lists", () => {
    it("adds, keeps and removes containers by name", async () => {
      const subject = current();
      const wanted = deployment(subject, { container: { env: [{ name: "A", value: "1" }] } });
      await subject.cluster.apply(wanted, alice);
      const sidecar = withContainers(wanted, [{ name: "sidecar", image: "example.com/sidecar:1" }]);
      expect(namesOf(await subject.cluster.apply(sidecar, bob))).toEqual(["sidecar", "web"]);
      expect(namesOf(await subject.cluster.apply(wanted, alice))).toEqual(["sidecar", "web"]);
      const onlyEnv = withContainers(wanted, [{ name: "web", image: "example.com/web:1", env: [{ name: "B", value: "2" }] }]);
      const merged = await subject.cluster.apply(onlyEnv, bob);
      expect(namesOf(merged)).toEqual(["web"]);
      expect(containersOf(merged)[0]?.["env"]).toEqual(
        expect.arrayContaining([
          { name: "A", value: "1" },
          { name: "B", value: "2" },
        ]),
      );
    });

    it("names the element of a list in a conflict", async () => {
      const subject = current();
      const wanted = deployment(subject, { container: { args: ["--fast"] } });
      await subject.cluster.apply(wanted, alice);
      const image = withContainers(wanted, [{ name: "web", image: "example.com/web:2" }]);
      const error = await rejectionOf(subject.cluster.apply(image, bob), "Conflict");
      expect(error.details.fields).toEqual(['spec.template.spec.containers[name="web"].image']);
      const args = withContainers(wanted, [{ name: "web", image: "example.com/web:1", args: ["--fast", "--safe"] }]);
      const whole = await rejectionOf(subject.cluster.apply(args, bob), "Conflict");
      expect(whole.details.fields).toEqual(['spec.template.spec.containers[name="web"].args']);
    });

    it("tells ports of a Service apart by number and protocol", async () => {
      const subject = current();
      const wanted = service(subject, { selector: { app: "web" }, ports: [{ name: "http", port: 80 }] });
      await subject.cluster.apply(wanted, alice);
      const metrics = changed(wanted, { spec: { ports: [{ name: "metrics", port: 9090, protocol: "TCP" }] } });
      const both = await subject.cluster.apply(metrics, bob);
      expect(portsOf(both)).toEqual([80, 9090]);
      const { spec: _, ...empty } = wanted;
      expect(portsOf(await subject.cluster.apply(empty as AnyResource, bob))).toEqual([80]);
    });

    it("treats a selector as one", async () => {
      const subject = current();
      const wanted = service(subject, { selector: { app: "web" }, ports: [{ port: 80 }] });
      await subject.cluster.apply(wanted, alice);
      const error = await rejectionOf(subject.cluster.apply(changed(wanted, { spec: { selector: { tier: "front" } } }), bob), "Conflict");
      expect(error.details.fields).toEqual(["spec.selector"]);
    });
  });

  describe("apply of a status", () => {
    it("writes the status and nothing else", async () => {
      const subject = current();
      const created = await subject.cluster.apply(deployment(subject), alice);
      const status = { replicas: 2, observedGeneration: 1, conditions: [condition("Available")] };
      const wanted = changed(created, { spec: { ...specOf(created), replicas: 9 }, status });
      const updated = await subject.cluster.applyStatus(wanted, bob);
      expect(updated["status"]).toMatchObject({ replicas: 2, observedGeneration: 1, conditions: [{ type: "Available" }] });
      expect(specOf(updated)["replicas"]).toBe(1);
      expect(updated.metadata.generation).toBe(1);
      const again = await subject.cluster.applyStatus({ ...wanted, metadata: updated.metadata }, bob);
      expect(again.metadata.resourceVersion).toBe(updated.metadata.resourceVersion);
    });

    it("of a version that the object has no more is refused, even with force", async () => {
      const subject = current();
      const created = await subject.cluster.apply(deployment(subject), alice);
      await statusApplied(subject, created, { replicas: 2 }, "alice");
      const late = { ...created, status: { replicas: 7 } };
      await rejectionOf(subject.cluster.applyStatus(late, { ...alice, force: true }), "Conflict");
    });

    it("has its own managers, and conditions by type", async () => {
      const subject = current();
      const created = await subject.cluster.apply(deployment(subject), alice);
      await statusApplied(subject, created, { replicas: 2, conditions: [condition("Available")] }, "alice");
      await statusApplied(subject, created, { conditions: [condition("Progressing")] }, "bob");
      const error = await rejectionOf(statusApplied(subject, created, { replicas: 3 }, "bob"), "Conflict");
      expect(error.details).toMatchObject({ fields: ["status.replicas"], manager: "alice" });
      const { status } = (await statusApplied(subject, created, { replicas: 2 }, "alice")) as AnyResource & {
        readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
      };
      expect(status?.conditions?.map(({ type }) => type)).toEqual(["Progressing"]);
    });

    it("needs an object", async () => {
      const subject = current();
      await rejectionOf(subject.cluster.applyStatus(deployment(subject, { status: { replicas: 1 } }), alice), "NotFound");
    });

    it("of the whole object is left out", async () => {
      const subject = current();
      const applied = await subject.cluster.apply(deployment(subject, { status: { replicas: 7 } }), alice);
      expect(applied["status"] ?? {}).not.toHaveProperty("replicas");
    });
  });
}

function condition(type: string): object {
  const time = "2024-05-01T12:00:00Z";
  return { type, status: "True", reason: "Tested", message: "", lastTransitionTime: time, lastUpdateTime: time };
}

function statusApplied(subject: Subject, { apiVersion, kind, metadata }: AnyResource, status: object, fieldManager: string) {
  const { name, namespace } = metadata;
  return subject.cluster.applyStatus(
    { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) }, status },
    { fieldManager },
  );
}

/** Only the given containers of a Deployment, so that nothing else is claimed. */
function withContainers(resource: AnyResource, containers: readonly object[]): AnyResource {
  return { ...resource, spec: { ...specOf(resource), template: { metadata: { labels: { app: "web" } }, spec: { containers } } } };
}

function namesOf(resource: AnyResource): readonly unknown[] {
  return containersOf(resource)
    .map((container) => container["name"])
    .sort();
}

function portsOf(resource: AnyResource): readonly unknown[] {
  const { ports = [] } = specOf(resource) as { ports?: readonly { readonly port: number }[] };
  return ports.map(({ port }) => port).sort((a, b) => a - b);
}
