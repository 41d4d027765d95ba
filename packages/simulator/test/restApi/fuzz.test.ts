import fc from "fast-check";
import { expect, it } from "vitest";
import { servedCluster } from "./servedCluster.ts";

const names = fc.constantFrom("a", "b", "A_", "..", "%2e", "__proto__", "constructor", "a".repeat(300), "");
const places = fc.constantFrom(
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/namespaces/default/pods",
  "/api/v1/namespaces/nowhere/secrets",
  "/api/v1/namespaces",
  "/apis/apps/v1/namespaces/default/deployments",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "/openapi/v3",
  "/apis",
  "/",
);
const queries = fc.constantFrom(
  "",
  "?limit=-1",
  "?limit=1&continue=%00",
  "?labelSelector=a%20in%20(",
  "?labelSelector=!a,b!=c",
  "?fieldSelector=metadata.name%3Da",
  "?watch=true&timeoutSeconds=0",
  "?dryRun=All&fieldValidation=Strict",
  "?force=true&fieldManager=me",
  "?pretty",
);
const types = fc.constantFrom(
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "text/plain",
);
const odd = fc.constantFrom(
  null,
  "",
  "x",
  1,
  -1,
  1e300,
  true,
  [],
  {},
  [null],
  { $patch: "delete" },
  { $patch: "x" },
  { "$setElementOrder/containers": [1] },
);
const objects = fc.record(
  {
    apiVersion: fc.constantFrom("v1", "apps/v1", "v9", 1),
    kind: fc.constantFrom("ConfigMap", "Pod", "Deployment", "Nothing", {}),
    metadata: fc.oneof(
      odd,
      fc.record(
        { name: fc.oneof(names, odd), labels: odd, annotations: odd, finalizers: odd, ownerReferences: odd, managedFields: odd },
        { requiredKeys: [] },
      ),
    ),
    spec: fc.oneof(
      odd,
      fc.record(
        { replicas: odd, selector: odd, template: odd, containers: odd, versions: odd, names: odd, group: odd },
        { requiredKeys: [] },
      ),
    ),
    data: odd,
    status: odd,
  },
  { requiredKeys: [] },
);
const operations = fc.array(
  fc.record(
    {
      op: fc.constantFrom("add", "remove", "replace", "test", "move", "copy", "x"),
      path: fc.constantFrom("", "/", "/data", "/data/a", "/metadata/labels/0", "/spec/template/-"),
      from: fc.constantFrom("", "/data"),
      value: odd,
    },
    { requiredKeys: ["op"] },
  ),
  { maxLength: 4 },
);
const bodies = fc.oneof(
  objects.map((each) => JSON.stringify(each)),
  operations.map((each) => JSON.stringify(each)),
  fc.string(),
  fc.constantFrom("{", "k8s\u0000\n", "[".repeat(5000), "a: &a [*a]", '{"a":'.repeat(3000)),
);
const requests = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"),
  path: fc
    .tuple(places, names, fc.constantFrom("", "/status", "/scale", "/eviction", "/token", "/x/y"), queries)
    .map(([place, name, sub, query]) => `${place}/${name}${sub}${query}`),
  type: types,
  accept: fc.constantFrom(
    "application/json",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    "*/*",
    "text/html",
  ),
  body: bodies,
});

it("has an answer to any request, and never one that the server failed", async () => {
  const { send, cluster } = await servedCluster();
  const failures: unknown[] = [];
  await fc.assert(
    fc.asyncProperty(fc.array(requests, { minLength: 8, maxLength: 12 }), async (list) => {
      for (const { method, path, type, accept, body } of list) {
        const hasBody = method !== "GET" && method !== "OPTIONS";
        const { code, json, text } = await send(method, path, hasBody ? body : undefined, {
          accept,
          ...(hasBody ? { "content-type": type } : {}),
        });
        if (json["reason"] === "InternalError") failures.push({ method, path, type, body, text });
        expect(code).toBeGreaterThanOrEqual(200);
      }
      expect(failures).toEqual([]);
      expect(cluster.object({ apiVersion: "v1", kind: "Namespace", name: "default", namespace: "" })).toBeDefined();
    }),
    { numRuns: 6 },
  );
});
