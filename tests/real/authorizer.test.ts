import { kubernetesAuthorizer, loadKubeconfig } from "@isthmus/kubernetes";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clock, clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { allowPaths, serviceAccountToken, tokenFor } from "./harness/serviceAccount.ts";

const way = { audience: "gloo-mesh-admin", isEncrypted: false };

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
    const ordinary = await serviceAccountToken(server, cluster, name);
    const token = await tokenFor(server, name, ["gloo-mesh-admin"]);
    const { authorize } = kubernetesAuthorizer({ kubeconfig: loadKubeconfig({ path: server.planeKubeconfig }), clock });

    expect(await authorize({ token: `${token}x`, path: "/evidence", ...way })).toMatchObject({ allowed: false, isKnown: false });
    expect(await authorize({ token, path: "/evidence", ...way })).toMatchObject({
      allowed: false,
      isKnown: true,
      reason: expect.stringContaining(`system:serviceaccount:default:${name} is not allowed to get /evidence`),
    });

    await allowPaths(cluster, name, ["/snapshots/input", "/evidence"]);
    await expect.poll(async () => authorize({ token, path: "/evidence", ...way })).toEqual({ allowed: true });
    expect(await authorize({ token, path: "/diagnostics", ...way })).toMatchObject({ allowed: false, isKnown: true });

    // A token for the API server counts where nobody on the way can read it, and nowhere else; one for somebody else nowhere.
    const question = { path: "/evidence", ...way };
    expect(await authorize({ token: ordinary, ...question })).toMatchObject({
      allowed: false,
      isKnown: false,
      reason: expect.stringContaining("kubectl create token NAME --audience=gloo-mesh-admin"),
    });
    const encrypted = { ...question, isEncrypted: true };
    expect(await authorize({ token: ordinary, ...encrypted })).toEqual({ allowed: true });
    expect(await authorize({ token, ...encrypted })).toEqual({ allowed: true });
    const elsewhere = await tokenFor(server, name, ["vault"]);
    for (const one of [question, encrypted])
      expect(await authorize({ token: elsewhere, ...one })).toMatchObject({ allowed: false, isKnown: false });
  });

  it("cannot ask without the right to ask", async () => {
    const { strangerKubeconfig } = fleet.servers.one;
    const { authorize } = kubernetesAuthorizer({ kubeconfig: loadKubeconfig({ text: strangerKubeconfig }), clock });
    await expect(authorize({ token: "any", path: "/evidence", ...way })).rejects.toMatchObject({ code: "Forbidden" });
  });
});
