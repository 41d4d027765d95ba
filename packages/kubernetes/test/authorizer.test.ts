import { expect, it } from "vitest";
import { kubernetesAuthorizer } from "../src/index.ts";
import { answer, type Script } from "./scriptedApiServer.ts";
import { errorOf, serve } from "./scriptedCluster.ts";

const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };

/** An API server that knows one token, and lets its user get one path. */
const knowing: Script = ({ path, body }, response) => {
  const { spec } = body as { spec: { token?: string; user?: string; nonResourceAttributes?: { path: string; verb: string } } };
  if (path === "/apis/authentication.k8s.io/v1/tokenreviews") {
    const user = { username: "system:serviceaccount:ops:reader", uid: "u", groups: ["system:authenticated"], extra: { a: ["b"] } };
    return answer(response, 201, { status: spec.token === "good" ? { authenticated: true, user } : { error: "unknown" } });
  }
  return answer(response, 201, { status: { allowed: spec.nonResourceAttributes?.path === "/evidence", reason: "RBAC" } });
};

it("asks who bears the token, then what that user may get", async () => {
  const server = await serve(knowing);
  const { authorize } = kubernetesAuthorizer({ kubeconfig: server.kubeconfig, clock });
  expect(await authorize({ token: "good", path: "/evidence" })).toEqual({ allowed: true });
  expect(server.seen.map(({ body }) => (body as { spec: unknown }).spec)).toEqual([
    { token: "good" },
    {
      user: "system:serviceaccount:ops:reader",
      uid: "u",
      groups: ["system:authenticated"],
      extra: { a: ["b"] },
      nonResourceAttributes: { path: "/evidence", verb: "get" },
    },
  ]);
});

it("tells a token that nobody knows from a user who may not", async () => {
  const server = await serve(knowing);
  const { authorize } = kubernetesAuthorizer({ kubeconfig: server.kubeconfig, clock });
  expect(await authorize({ token: "bad", path: "/evidence" })).toEqual({
    allowed: false,
    isKnown: false,
    reason: "the Kubernetes API does not know this token: unknown",
  });
  expect(await authorize({ token: "good", path: "/snapshots/input" })).toMatchObject({
    allowed: false,
    isKnown: true,
    reason: expect.stringContaining('bind a ClusterRole to it with nonResourceURLs ["/snapshots/input"]'),
  });
});

it("lets nobody in when the API server gives no answer", async () => {
  const server = await serve((_, response) => answer(response, 500, { kind: "Status", message: "overload" }));
  const { authorize } = kubernetesAuthorizer({ kubeconfig: server.kubeconfig, clock });
  expect(await errorOf(authorize({ token: "good", path: "/evidence" }))).toMatchObject({ code: "Unavailable" });
});
