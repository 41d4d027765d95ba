import { TrafficPolicy } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { type Current, rejectionOf, type Subject } from "./subject.ts";

/** A kind that comes with a CRD. Skipped where it is not installed. */
export function ownKindContract(current: Current): void {
  describe("a TrafficPolicy, where its CRD is installed,", () => {
    it("counts changes of its spec, and has a status of its own", async (test) => {
      const subject = current();
      if (!(await isInstalled(subject))) return test.skip("the cluster does not serve TrafficPolicy");
      const { cluster } = subject;
      const wanted = policy(subject, { policy: { requestTimeout: "5s" } });
      const created = await cluster.apply(wanted, { fieldManager: "user" });
      expect(created.metadata.generation).toBe(1);
      const reported = await cluster.applyStatus({ ...wanted, status: { observedGeneration: 1 } }, { fieldManager: "gloo-mesh" });
      expect(reported).toMatchObject({ metadata: { generation: 1 }, status: { observedGeneration: 1 } });
      const updated = await cluster.apply(policy(subject, { policy: { requestTimeout: "6s" } }, wanted), { fieldManager: "user" });
      expect(updated).toMatchObject({ metadata: { generation: 2 }, status: { observedGeneration: 1 } });
      const again = await cluster.apply(policy(subject, { policy: { requestTimeout: "6s" } }, wanted), { fieldManager: "user" });
      expect(again.metadata.resourceVersion).toBe(updated.metadata.resourceVersion);
      const error = await rejectionOf(cluster.apply(wanted, { fieldManager: "other" }), "Conflict");
      expect(error.details).toMatchObject({ fields: ["spec.policy.requestTimeout"], manager: "user" });
    });

    it("has its last accepted spec as it was written, with nothing left of the one before", async (test) => {
      const subject = current();
      if (!(await isInstalled(subject))) return test.skip("the cluster does not serve TrafficPolicy");
      const { cluster } = subject;
      const wanted = policy(subject, {});
      await cluster.create(wanted);
      const accepted = [
        { generation: 1, spec: { policy: { mtls: { istio: { tlsMode: "DISABLE" } } }, destinationSelector: [{}] } },
        { generation: 2, spec: { policy: { requestTimeout: "5s" } } },
        undefined,
      ];
      for (const lastAccepted of accepted) {
        const status = { observedGeneration: 1, ...(lastAccepted === undefined ? {} : { lastAccepted }) };
        const reported = await cluster.applyStatus({ ...wanted, status }, { fieldManager: "gloo-mesh" });
        expect((reported as AnyResource)["status"]).toEqual(status);
      }
    });

    it("is refused with the field that is wrong", async (test) => {
      const subject = current();
      if (!(await isInstalled(subject))) return test.skip("the cluster does not serve TrafficPolicy");
      const wanted = policy(subject, { policy: { requestTimeout: "soon" } });
      for (const call of [() => subject.cluster.create(wanted), () => subject.cluster.apply(wanted, { fieldManager: "user" })]) {
        const error = await rejectionOf(call(), "Invalid");
        expect(error.details.fields).toContain("spec.policy.requestTimeout");
      }
    });
  });
}

async function isInstalled({ cluster }: Subject): Promise<boolean> {
  const served = await cluster.servedKinds();
  return served.some(({ apiVersion, kind }) => apiVersion === TrafficPolicy.apiVersion && kind === TrafficPolicy.kind);
}

function policy({ name, namespace }: Subject, spec: object, before?: AnyResource): AnyResource {
  const { apiVersion, kind } = TrafficPolicy;
  return { apiVersion, kind, metadata: { name: before?.metadata.name ?? name(), namespace }, spec };
}
