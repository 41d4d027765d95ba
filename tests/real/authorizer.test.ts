import type { AnyResource } from "@isthmus/core";
import { kubernetesAuthorizer, loadKubeconfig } from "@isthmus/kubernetes";
import { afterAll, beforeAll, expect, it } from "vitest";
import { anyKind, clock, clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { requestTo } from "./harness/requestTo.ts";

const PATHS = ["/snapshots/input", "/evidence"];

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
    await cluster.create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: "default" } });
    const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
    const issued = (await requestTo(server, "POST", path, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: 3600 },
    })) as { status: { token: string } };
    const { token } = issued.status;
    const { authorize } = kubernetesAuthorizer({ kubeconfig: loadKubeconfig({ path: server.planeKubeconfig }), clock });

    expect(await authorize({ token: `${token}x`, path: "/evidence" })).toMatchObject({ allowed: false, isKnown: false });
    expect(await authorize({ token, path: "/evidence" })).toMatchObject({
      allowed: false,
      isKnown: true,
      reason: expect.stringContaining(`system:serviceaccount:default:${name} may not get /evidence`),
    });

    const rules = [{ nonResourceURLs: PATHS, verbs: ["get"] }];
    await cluster.create(rbac("ClusterRole", name, { rules }));
    const subjects = [{ kind: "ServiceAccount", name, namespace: "default" }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
    await cluster.create(rbac("ClusterRoleBinding", name, { subjects, roleRef }));
    await expect.poll(async () => authorize({ token, path: "/evidence" }), { timeout: 10_000 }).toEqual({ allowed: true });
    expect(await authorize({ token, path: "/diagnostics" })).toMatchObject({ allowed: false, isKnown: true });
  });

  it("cannot ask without the right to ask", async () => {
    const { strangerKubeconfig } = fleet.servers.one;
    const { authorize } = kubernetesAuthorizer({ kubeconfig: loadKubeconfig({ text: strangerKubeconfig }), clock });
    await expect(authorize({ token: "any", path: "/evidence" })).rejects.toMatchObject({ code: "Forbidden" });
  });
});

function rbac(kind: string, name: string, content: object): AnyResource {
  const { apiVersion } = anyKind("rbac.authorization.k8s.io/v1", kind, `${kind.toLowerCase()}s`, { namespaced: false });
  return { apiVersion, kind, metadata: { name }, ...content };
}
