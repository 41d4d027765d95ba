import type { Kind } from "@isthmus/core";
import { InvalidResource } from "@isthmus/core";
import { expect, test } from "vitest";
import { Workload } from "../discovery/workload.ts";
import { AccessPolicy } from "../networking/accessPolicy.ts";
import { TrafficPolicy } from "../networking/trafficPolicy.ts";
import { userStatusKinds } from "../roles.ts";
import { MOST_PROBLEMS } from "./problems.ts";

function problemsOf(kind: Kind, spec: unknown): readonly string[] {
  try {
    kind.parse({ apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: "a", namespace: "n" }, spec });
    return [];
  } catch (error) {
    if (!(error instanceof InvalidResource)) throw error;
    expect(error.message).toBe(error.messages[0]);
    return error.problems.map(({ path, problem }) => `${path}: ${problem}`);
  }
}

test("all mistakes are named, each with its place in the object as it was given", () => {
  const destinations = [{ weight: -1 }, { weight: 1 }, { weight: "x" }, 7, { weight: -2, kubeService: { port: "a" } }];
  const httpRequestMatchers = [{ uri: { exact: "/a", prefix: "/", regex: 5 } }, { method: 1 }];
  const labels = { "example.com/a~b": 1, fine: "yes", other: 2 };
  const sourceSelector = [{}, { kubeWorkloadMatcher: { labels } }];
  expect(problemsOf(TrafficPolicy, { sourceSelector, httpRequestMatchers, policy: { trafficShift: { destinations } } })).toEqual([
    "spec.sourceSelector[1].kubeWorkloadMatcher.labels.example.com/a~b: must be a string, is 1",
    "spec.sourceSelector[1].kubeWorkloadMatcher.labels.other: must be a string, is 2",
    "spec.httpRequestMatchers[0].uri.regex: must be a string, is 5",
    "spec.httpRequestMatchers[0].uri: at most one of exact, prefix, regex, suffix may be set",
    "spec.httpRequestMatchers[1].method: must be a string, is 1",
    "spec.policy.trafficShift.destinations[0].weight: -1 must be >= 0",
    'spec.policy.trafficShift.destinations[2].weight: must be an integer, is "x"',
    "spec.policy.trafficShift.destinations[3]: must be an object, is 7",
    "spec.policy.trafficShift.destinations[4].weight: -2 must be >= 0",
    'spec.policy.trafficShift.destinations[4].kubeService.port: "a" is not a port number',
  ]);
});

test("what is given but wrong is not said to be missing", () => {
  const mesh = { name: 5, namespace: "gloo-mesh" };
  expect(problemsOf(Workload, { mesh, kubernetes: { serviceAccountName: 7 } })).toEqual([
    "spec.kubernetes.serviceAccountName: must be a string, is 7",
    "spec.mesh.name: must be a string, is 5",
  ]);
  expect(problemsOf(Workload, { mesh: { namespace: "gloo-mesh" } })).toEqual(["spec.mesh.name: is required"]);
});

test.each(userStatusKinds().map((kind) => ({ kind, name: kind.kind })))(
  "$name: unknown fields of an object that is refused are named, too",
  ({ kind }) => {
    if (kind.kind === AccessPolicy.kind) {
      const { spec } = AccessPolicy.parse({
        ...kind,
        metadata: { name: "a" },
        spec: { allowedPaths: 5, allowedPorts: ["http"], colour: "red" },
      });
      expect(spec).toEqual({
        unreadable:
          'spec.allowedPaths: must be an array, is 5\nspec.allowedPorts[0]: "http" is not a port number\nspec.colour: unknown field',
      });
      return;
    }
    const { properties } = (kind as unknown as { definition: { fields: { spec: { properties: object } } } }).definition.fields.spec;
    const [first = ""] = Object.keys(properties);
    const [problem, ...further] = problemsOf(kind, { [first]: 5, zzzzzzzzzzzzzzzz: "red" });
    expect(problem).toMatch(new RegExp(`^spec.${first}: `));
    expect(further).toEqual(["spec.zzzzzzzzzzzzzzzz: unknown field"]);
  },
);

test("no more than twenty are named, of an object that is nothing but mistakes", () => {
  const allowed = Array.from({ length: 100_000 }, (_, i) => i);
  expect(problemsOf(TrafficPolicy, { destinationSelector: allowed.slice(0, 256), httpRequestMatchers: allowed })).toHaveLength(
    MOST_PROBLEMS,
  );
  const labels = Object.fromEntries(allowed.map((n) => [`label-${n}`, n]));
  expect(problemsOf(TrafficPolicy, { sourceSelector: [{ kubeWorkloadMatcher: { labels } }] })).toHaveLength(MOST_PROBLEMS);
});
