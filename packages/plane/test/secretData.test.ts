import { allKinds } from "@isthmus/api";
import { simulatedCluster, virtualClock } from "@isthmus/simulator";
import { expect, test } from "vitest";
import { ensureSecret } from "../src/index.ts";

test("a Secret whose namespace is missing says so, and what to do", async () => {
  const cluster = simulatedCluster({ name: "", clock: virtualClock(), kinds: allKinds() });
  const ref = { name: "relay-root-tls-secret", namespace: "gloo-mesh" };
  await expect(ensureSecret(cluster, ref, async () => ({}))).rejects.toMatchObject({
    name: "UsageError",
    message:
      "the management cluster has no namespace gloo-mesh, which is needed for Secret relay-root-tls-secret: " +
      "create it (kubectl create namespace gloo-mesh), or set another with --namespace",
  });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "gloo-mesh" } }]);
  expect(await ensureSecret(cluster, ref, async () => ({ key: "value" }))).toEqual({ key: "value" });
  expect(await ensureSecret(cluster, ref, async () => ({ key: "another" }))).toEqual({ key: "value" });
});
