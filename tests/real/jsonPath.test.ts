import { TrafficPolicy } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { kubectl } from "./harness/kubectl.ts";
import { runMeshctl } from "./harness/meshctl.ts";

const { apiVersion, kind } = TrafficPolicy;
const policies = [
  policy("fast", { app: "reviews", "example.com/team": "books", constructor: "own" }, { requestTimeout: "1s", retries: { attempts: 2 } }),
  policy(
    "slow",
    { app: "ratings" },
    {
      requestTimeout: "3s",
      faultInjection: { abort: { httpStatus: 503 }, percentage: 12.5 },
      corsPolicy: { allowMethods: ["GET", "POST", "PUT"], allowCredentials: true },
    },
  ),
  policy("unlabelled", {}, { corsPolicy: { allowMethods: ["GET", "HEAD", "PATCH"], allowCredentials: false } }),
];

function policy(name: string, labels: Readonly<Record<string, string>>, of: object): AnyResource {
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: "default", labels, annotations: { html: "<books> & films" } },
    spec: { policy: of },
  } as unknown as AnyResource;
}

const CORS = ".spec.policy.corsPolicy";

/** Templates with the same meaning in kubectl; apps/meshctl/test/jsonPath.test.ts has those where one object could hide others. */
const templates: readonly string[] = [
  "{.items[*].metadata.name}",
  "{$.items[*].metadata.name}",
  "{ .items[*].metadata.name }",
  "{.kind}/{.apiVersion}",
  ".items[*].metadata.name",
  "names: {.items[*].metadata.name}!",
  "{.items[0].metadata.name}",
  "{.items[-1].metadata.name}",
  "{.items[-2:].metadata.name}",
  "{.items[0:2].metadata.name}",
  "{.items[1:].metadata.name}",
  "{.items[::2].metadata.name}",
  "{.items[0,2].metadata.name}",
  "{.items[*].spec.policy.absent.deeper}",
  "{.items[*].spec.policy.requestTimeout}",
  "{.items[*].spec}",
  "{.items[0].metadata.labels}",
  "{.items[0].metadata.annotations}{.items[0].metadata.annotations.html}",
  "{.items[*].metadata.labels.app}",
  "{.items[*].metadata.labels.constructor}",
  "{.items[*].metadata.labels.example\\.com/team}",
  "{.items[*].metadata.labels['example\\.com/team']}",
  "{.items[*]['metadata.name','kind']}",
  "{.items[*]['metadata.name', 'spec.policy.requestTimeout']}",
  "{.items[*].spec.*.requestTimeout}",
  `{.items[*]${CORS}.allowMethods}`,
  `{.items[*]${CORS}.allowMethods[*]}`,
  `{.items[*]${CORS}.allowMethods[1]}`,
  `{.items[*]${CORS}.allowCredentials}`,
  "{.items[*].spec.policy.faultInjection.percentage}",
  "{..requestTimeout}",
  "{..attempts}",
  "{..allowMethods[0]}",
  '{.items[?(@.metadata.name=="slow")].spec.policy.requestTimeout}',
  "{.items[?( @.metadata.name == 'slow' )].spec.policy.requestTimeout}",
  '{.items[?(@.metadata.name!="slow")].metadata.name}',
  '{.items[?(@.metadata.name>"fast")].metadata.name}',
  '{.items[?(@.metadata.name<="slow")].metadata.name}',
  "{.items[?(@.spec.policy.faultInjection)].metadata.name}",
  "{.items[?(@.spec.policy.retries.attempts==2)].metadata.name}",
  "{.items[?(@.spec.policy.retries.attempts>=3)].metadata.name}",
  `{.items[?(@${CORS}.allowCredentials==false)].metadata.name}`,
  "{.items[?(@.metadata.namespace==@.metadata.namespace)].metadata.name}",
  "{.items[?(@.metadata.labels['example\\.com/team'])].metadata.name}",
  '{range .items[*]}{.metadata.name}{"\\t"}{.spec.policy.requestTimeout}{"\\n"}{end}',
  "{range .items[*]}[{.metadata.name}:{range .spec.policy.corsPolicy.allowMethods[*]}<{@}>{end}]{end}.",
  "{range .items[?(@.absent)]}{.metadata.name}{end}none",
  "{range .items[*]}{end}",
  `{"quoted \\"text\\""}{' and more'}`,
];

// The same templates, the same API server, the two programs.
describeReal("a JSONPath template prints what kubectl prints", (components) => {
  let fleet: Fleet<"management">;
  let cluster: Cluster;

  beforeAll(async () => {
    fleet = await startFleet(components, ["management"], { crds: "all" });
    const server = fleet.servers.management;
    cluster = clusterOf(server, "");
    for (const each of policies) await cluster.create(each);
  });
  afterAll(() => fleet?.stop());

  it.each(templates)("%s", async (template) => {
    const server = fleet.servers.management;
    const theirs = await kubectl({ components, server }, ["get", "trafficpolicies", "--all-namespaces", `--output=jsonpath=${template}`]);
    expect(theirs).toMatchObject({ code: 0, stderr: "" });
    const ours = await runMeshctl(["get", "trafficpolicies", "--kubeconfig", server.kubeconfig, "-o", `jsonpath=${template}`]);
    expect({ code: ours.code, out: ours.out }).toEqual({ code: 0, out: theirs.stdout });
  });
});
