import { type AnyResource, refOf } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import {
  ContractBudget,
  ContractNamespace,
  ContractPod,
  type Current,
  changed,
  configMap,
  dataOf,
  deployment,
  live,
  rejectionOf,
  service,
  specOf,
} from "./subject.ts";

/**
 * Tests of `create`, `update`, `updateStatus`, `delete` and `evict`: versions, generations, preconditions, finalizers, and objects that are
 * not valid.
 */
export function writeContract(current: Current): void {
  describe("writes", () => {
    it("create an object once, and give it a UID, a version, a time and a generation", async () => {
      const subject = current();
      const wanted = deployment(subject, { status: { replicas: 7 } });
      const created = await subject.cluster.create(wanted);
      expect(created.metadata).toMatchObject({ name: wanted.metadata.name, namespace: subject.namespace, generation: 1 });
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(created.metadata.resourceVersion).toMatch(/^\d+$/);
      expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      // The status of a new object is not its writer's.
      expect(created["status"] ?? {}).not.toHaveProperty("replicas");
      expect(specOf(created)).toMatchObject({ replicas: 1 });
      const error = await rejectionOf(subject.cluster.create(wanted), "AlreadyExists");
      expect(error.message).toContain(wanted.metadata.name);
    });

    it("refuse an object in a namespace that is not there", async () => {
      const subject = current();
      const { metadata, ...rest } = configMap(subject, {});
      const elsewhere = { ...rest, metadata: { ...metadata, namespace: "contract-nowhere" } };
      const error = await rejectionOf(subject.cluster.create(elsewhere), "NotFound");
      expect(error.message).toContain("contract-nowhere");
      await rejectionOf(subject.cluster.apply(elsewhere, { fieldManager: "writer" }), "NotFound");
    });

    it("update the version that was read, and refuse an older one", async () => {
      const subject = current();
      const first = await subject.cluster.create(configMap(subject, { key: "one" }));
      const second = await subject.cluster.update(changed(first, { data: { key: "two" } }));
      expect(second.metadata.uid).toBe(first.metadata.uid);
      expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion));
      await rejectionOf(subject.cluster.update(changed(first, { data: { key: "three" } })), "Conflict");
      expect(dataOf(await live(subject, first))).toEqual({ key: "two" });
    });

    it("update whatever is there when no version is named, and nothing that is not", async () => {
      const subject = current();
      const wanted = configMap(subject, { key: "one" });
      await rejectionOf(subject.cluster.update(wanted), "NotFound");
      await subject.cluster.create(wanted);
      const updated = await subject.cluster.update(changed(wanted, { data: { other: "two" } }));
      expect(dataOf(updated)).toEqual({ other: "two" });
    });

    it("keep the version when an update changes nothing", async () => {
      const subject = current();
      const created = await subject.cluster.create(deployment(subject));
      const updated = await subject.cluster.update(created);
      expect(updated.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    });

    it("count changes of the spec in the generation, and no others", async () => {
      const subject = current();
      const { cluster } = subject;
      const first = await cluster.create(deployment(subject));
      const scaled = await cluster.update(changed(first, { spec: { ...specOf(first), replicas: 3 } }));
      expect(scaled.metadata.generation).toBe(2);
      const labelled = await cluster.update({ ...scaled, metadata: { ...scaled.metadata, labels: { team: "web" } } });
      expect(labelled.metadata.generation).toBe(2);
      expect(labelled.metadata.resourceVersion).not.toBe(scaled.metadata.resourceVersion);
      const observed = await cluster.updateStatus(changed(labelled, { status: { replicas: 3, observedGeneration: 2 } }));
      expect(observed.metadata.generation).toBe(2);
    });

    it("keep status and everything else apart", async () => {
      const subject = current();
      const { cluster } = subject;
      const created = await cluster.create(deployment(subject));
      const withStatus = await cluster.updateStatus(
        changed(created, { spec: { ...specOf(created), replicas: 9 }, status: { replicas: 2 } }),
      );
      expect(specOf(withStatus)["replicas"]).toBe(1);
      expect(withStatus["status"]).toMatchObject({ replicas: 2 });
      const scaled = await cluster.update(changed(withStatus, { spec: { ...specOf(created), replicas: 4 }, status: { replicas: 8 } }));
      expect(scaled["status"]).toMatchObject({ replicas: 2 });
      await rejectionOf(cluster.updateStatus(changed(created, { status: { replicas: 3 } })), "Conflict");
    });

    it("delete the very object that was looked at", async () => {
      const subject = current();
      const { cluster } = subject;
      const created = await cluster.create(configMap(subject, {}));
      const ref = refOf(created);
      const { uid = "", resourceVersion = "" } = created.metadata;
      await rejectionOf(cluster.delete(ref, { uid: "00000000-0000-0000-0000-000000000000" }), "Conflict");
      await cluster.update(changed(created, { data: { changed: "yes" } }));
      await rejectionOf(cluster.delete(ref, { uid, resourceVersion }), "Conflict");
      const { metadata } = await live(subject, created);
      await cluster.delete(ref, { uid, resourceVersion: metadata.resourceVersion ?? "" });
      await rejectionOf(cluster.delete(ref), "NotFound");
    });

    it("evict the very pod that was looked at", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const spec = { containers: [{ name: "web", image: "example.com/web:1" }] };
      const created = await cluster.create({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: subject.name(), namespace },
        spec,
      } as AnyResource);
      const ref = refOf(created);
      await rejectionOf(cluster.evict(ref, { uid: "00000000-0000-0000-0000-000000000000" }), "Conflict");
      expect(await cluster.get(ContractPod, ref)).toBeDefined();
      await cluster.evict(ref, { uid: created.metadata.uid ?? "" });
      expect(await cluster.get(ContractPod, ref)).toBeUndefined();
      await rejectionOf(cluster.evict(ref), "NotFound");
    });

    it("evict no pod that a PodDisruptionBudget protects, and name the budget", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const [name, app] = [subject.name(), subject.name()];
      const pod = await cluster.create({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace, labels: { app } },
        spec: { containers: [{ name: "web", image: "example.com/web:1" }] },
      } as AnyResource);
      const conditions = [{ type: "Ready", status: "True" }];
      await cluster.updateStatus(changed(await live(subject, pod), { status: { phase: "Running", conditions } }));
      const budget = await cluster.create({
        apiVersion: ContractBudget.apiVersion,
        kind: ContractBudget.kind,
        metadata: { name: app, namespace },
        spec: { minAvailable: 1, selector: { matchLabels: { app } } },
      } as AnyResource);
      const statusWith = (disruptionsAllowed: number) => ({
        ...{ observedGeneration: budget.metadata["generation"], disruptionsAllowed },
        ...{ currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
      });
      await cluster.updateStatus(changed(budget, { status: statusWith(0) }));
      const error = await rejectionOf(cluster.evict(refOf(pod)), "Blocked");
      expect(error.message).toBe(`The disruption budget ${app} needs 1 healthy pods and has 1 currently`);
      expect(await cluster.get(ContractPod, refOf(pod))).toBeDefined();
      const closed = await cluster.get(ContractBudget, { name: app, namespace });
      if (closed === undefined) throw new Error("the budget is gone");
      await cluster.updateStatus(changed(closed, { status: statusWith(1) }));
      await cluster.evict(refOf(pod));
      const left = await cluster.get(ContractPod, refOf(pod));
      expect(left?.metadata.deletionTimestamp ?? "gone").toMatch(/gone|Z$/);
    });

    it("give a new UID to an object that is made again", async () => {
      const subject = current();
      const wanted = configMap(subject, {});
      const first = await subject.cluster.create(wanted);
      await subject.cluster.delete(refOf(first));
      const second = await subject.cluster.create(wanted);
      expect(second.metadata.uid).not.toBe(first.metadata.uid);
    });

    it("keep a deleted object until its last finalizer is gone", async () => {
      const subject = current();
      const { cluster } = subject;
      const { metadata, ...rest } = configMap(subject, {});
      const created = await cluster.create({ ...rest, metadata: { ...metadata, finalizers: ["isthmus.mesh/test"] } });
      await cluster.delete(refOf(created));
      const going = await live(subject, created);
      expect(going.metadata.deletionTimestamp).toMatch(/Z$/);
      await cluster.delete(refOf(created));
      const { finalizers: _, ...unheld } = going.metadata;
      await cluster.update({ ...going, metadata: unheld });
      await rejectionOf(
        live(subject, created).catch(() => cluster.delete(refOf(created))),
        "NotFound",
      );
    });

    it("let nothing new into a namespace that is going", async () => {
      const subject = current();
      const { cluster } = subject;
      const namespace = `${subject.namespace}-${subject.name()}`;
      await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
      await cluster.create(configMap({ ...subject, namespace }, {}));
      await cluster.delete({ ...ContractNamespace, name: namespace, namespace: "", clusterName: cluster.name });
      const found = await cluster.get(ContractNamespace, { name: namespace, namespace: "" });
      expect(found).toMatchObject({ status: { phase: "Terminating" } });
      await rejectionOf(cluster.create(configMap({ ...subject, namespace }, {})), "Forbidden");
    });
  });

  describe("objects that can't be", () => {
    it("are refused with the field: a template without the selector's labels", async () => {
      const subject = current();
      const wanted = deployment(subject, { spec: { selector: { matchLabels: { app: "other" } } } });
      const error = await rejectionOf(subject.cluster.create(wanted), "Invalid");
      expect(error.details.fields).toContain("spec.template.metadata.labels");
      await rejectionOf(subject.cluster.apply(wanted, { fieldManager: "writer" }), "Invalid");
    });

    it("are refused with the field: a port beyond 65535", async () => {
      const subject = current();
      const error = await rejectionOf(subject.cluster.create(service(subject, { ports: [{ port: 70_000 }] })), "Invalid");
      expect(error.details.fields).toContain("spec.ports[0].port");
    });

    it("are refused with the field: a number that is none", async () => {
      const subject = current();
      const wanted = deployment(subject, { spec: { replicas: "three" } });
      const created = await rejectionOf(subject.cluster.create(wanted), "Invalid");
      expect(created.message).toContain("spec.replicas");
      const applied = await rejectionOf(subject.cluster.apply(wanted, { fieldManager: "writer" }), "Invalid");
      expect(applied.message).toContain("spec.replicas");
    });

    it("are refused with the field: names and labels", async () => {
      const subject = current();
      const name = await rejectionOf(subject.cluster.create(configMap(subject, {}, { name: "Under_Score" })), "Invalid");
      expect(name.details.fields).toContain("metadata.name");
      const label = await rejectionOf(subject.cluster.create(configMap(subject, {}, { labels: { team: "not a label" } })), "Invalid");
      expect(label.details.fields).toContain("metadata.labels");
    });

    it("are refused with the field: a pod without containers", async () => {
      const subject = current();
      const pod = {
        apiVersion: ContractPod.apiVersion,
        kind: ContractPod.kind,
        metadata: { name: subject.name(), namespace: subject.namespace },
      };
      const error = await rejectionOf(subject.cluster.create({ ...pod, spec: { containers: [] } } as typeof pod), "Invalid");
      expect(error.details.fields).toContain("spec.containers");
    });

    it("are refused with the field: a selector that changes", async () => {
      const subject = current();
      const created = await subject.cluster.create(deployment(subject));
      const template = {
        metadata: { labels: { app: "web", tier: "front" } },
        spec: { containers: [{ name: "web", image: "example.com/web:1" }] },
      };
      const selector = { matchLabels: { app: "web", tier: "front" } };
      const error = await rejectionOf(subject.cluster.update(changed(created, { spec: { selector, template } })), "Invalid");
      expect(error.details.fields).toContain("spec.selector");
    });
  });
}
