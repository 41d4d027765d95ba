import { kubernetesAuthorizer, loadKubeconfig } from "@isthmus/kubernetes";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clock, clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { allowPaths, serviceAccountToken } from "./harness/serviceAccount.ts";

describeReal("who may read the admin port, by a real API server", (components) => {
  let fleet: Fleet<"one">;
  beforeAll(async () => {
    fleet = await startFleet(components, ["one"]);
  });
  afterAll(() => fleet?.stop());

  it("knows the token of a ServiceAccount, and what its roles let it get", async () => {
    const server = fleet.servers.one;
    const cluster = clusterOf(server, "");
    const name = "snapshot-reader";
    const token = await serviceAccountToken(server, cluster, name);
    const { authorize } = kubernetesAuthorizer({ kubeconfig: loadKubeconfig({ path: server.planeKubeconfig }), clock });

    expect(await authorize({ token: `${token}x`, path: "/evidence" })).toMatchObject({ allowed: false, isKnown: false });
    expect(await authorize({ token, path: "/evidence" })).toMatchObject({
      allowed: false,
      isKnown: true,
      reason: expect.stringContaining(`system:serviceaccount:default:${name} may not get /evidence`),
    });

    await allowPaths(cluster, name, ["/snapshots/input", "/evidence"]);
    await expect.poll(async () => authorize({ token, path: "/evidence" }), { timeout: 10_000 }).toEqual({ allowed: true });
    expect(await authorize({ token, path: "/diagnostics" })).toMatchObject({ allowed: false, isKnown: true });
  });

  it("cannot ask without the right to ask", async () => {
    const { strangerKubeconfig } = fleet.servers.one;
    const { authorize } = kubernetesAuthorizer({ kubeconfig: loadKubeconfig({ text: strangerKubeconfig }), clock });
    await expect(authorize({ token: "any", path: "/evidence" })).rejects.toMatchObject({ code: "Forbidden" });
  });
});
