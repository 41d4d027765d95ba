import { expect, it } from "vitest";
import { kubernetesAuthorizer } from "../src/index.ts";
import { answer, type Script } from "./scriptedApiServer.ts";
import { errorOf, serve } from "./scriptedCluster.ts";

const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };

const way = { audience: "gloo-mesh-admin", isEncrypted: false };

/** An API server that knows one token, and lets its user get one path. */
const knowing: Script = ({ path, body }, response) => {
  const { spec } = body as { spec: { token?: string; user?: string; nonResourceAttributes?: { path: string; verb: string } } };
  if (path === "/apis/authentication.k8s.io/v1/tokenreviews") {
    const user = { username: "system:serviceaccount:ops:reader", uid: "u", groups: ["system:authenticated"], extra: { a: ["b"] } };
    return answer(response, 201, {
      status: spec.token === "good" ? { authenticated: true, user, audiences: ["gloo-mesh-admin"] } : { error: "unknown" },
    });
  }
  return answer(response, 201, { status: { allowed: spec.nonResourceAttributes?.path === "/evidence", reason: "RBAC" } });
};

it("asks who bears the token, then what that user may get", async () => {
  const server = await serve(knowing);
  const { authorize } = kubernetesAuthorizer({ kubeconfig: server.kubeconfig, clock });
  expect(await authorize({ token: "good", path: "/evidence", ...way })).toEqual({ allowed: true });
  expect(server.seen.map(({ body }) => (body as { spec: unknown }).spec)).toEqual([
    { token: "good", audiences: ["gloo-mesh-admin"] },
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
  expect(await authorize({ token: "bad", path: "/evidence", ...way })).toEqual({
    allowed: false,
    isKnown: false,
    reason: expect.stringMatching(
      /does not accept this token for the audience gloo-mesh-admin: unknown; .* kubectl create token NAME --audience=gloo-mesh-admin/,
    ),
  });
  expect(await authorize({ token: "good", path: "/snapshots/input", ...way })).toMatchObject({
    allowed: false,
    isKnown: true,
    reason: expect.stringContaining('bind it to a ClusterRole with nonResourceURLs ["/snapshots/input"]'),
  });
});

it("denies all callers when the API server gives no answer", async () => {
  const server = await serve((_, response) => answer(response, 500, { kind: "Status", message: "overload" }));
  const { authorize } = kubernetesAuthorizer({ kubeconfig: server.kubeconfig, clock });
  expect(await errorOf(authorize({ token: "good", path: "/evidence", ...way }))).toMatchObject({ code: "Unavailable" });
});
