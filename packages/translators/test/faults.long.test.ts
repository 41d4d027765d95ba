import { readFileSync } from "node:fs";
import { canonicalJson, formatRef, type Resource, refOf, resourceKeyOf, type Snapshot, snapshotOf } from "@isthmus/core";
import { readInput, runs } from "@isthmus/testing";
import { expect, test } from "vitest";
import { changedStatuses, newReports, statusesAfter, type TranslateOptions, type Translation, translate } from "../src/index.ts";
import { Thrown, throwingObject } from "./throwingObject.ts";

const OPTIONS: TranslateOptions = { namespace: "gloo-mesh", stage: "all", ages: "CREATED" };

const MORE = `
apiVersion: networking.mesh.gloo.solo.io/v1
kind: AccessPolicy
metadata: {name: callers, namespace: bookinfo, generation: 1}
spec:
  sourceSelector: [{kubeServiceAccountRefs: {serviceAccounts: [{name: productpage, namespace: bookinfo, clusterName: cluster-1}]}}]
  destinationSelector: [{kubeServiceMatcher: {labels: {app: reviews}, namespaces: [bookinfo]}}]
---
apiVersion: networking.enterprise.mesh.gloo.solo.io/v1beta1
kind: VirtualDestination
metadata: {name: anywhere, namespace: bookinfo}
spec:
  hostname: reviews.example.com
  port: {number: 9080, protocol: http}
  virtualMesh: {name: bookinfo, namespace: gloo-mesh}
  localized: {destinationSelectors: [{kubeServiceMatcher: {labels: {app: reviews}}}]}
---
apiVersion: networking.enterprise.mesh.gloo.solo.io/v1beta1
kind: ServiceDependency
metadata: {name: few, namespace: bookinfo}
spec:
  sourceSelectors: [{kubeWorkloadMatcher: {labels: {app: reviews}}}]
  destinationSelectors: [{kubeServiceMatcher: {labels: {app: reviews}}}]
---
apiVersion: observability.enterprise.mesh.gloo.solo.io/v1
kind: AccessLogRecord
metadata: {name: log, namespace: bookinfo}
spec: {}
---
apiVersion: networking.enterprise.mesh.gloo.solo.io/v1beta1
kind: WasmDeployment
metadata: {name: filter, namespace: bookinfo}
spec:
  filters: [{wasmImageSource: {wasmImageTag: 'registry.example.com/filter:1'}}]
---
apiVersion: settings.mesh.gloo.solo.io/v1
kind: Settings
metadata: {name: settings, namespace: gloo-mesh}
spec: {mtls: {istio: {tlsMode: ISTIO_MUTUAL}}}
`;

const folder = new URL("../../../docs/examples/", import.meta.url);
const texts = ["cluster-1.yaml", "cluster-2.yaml", "policies.yaml"].map((name) => readFileSync(new URL(name, folder), "utf8"));
const objects: readonly Resource[] = [...texts, MORE].flatMap((text) => readInput(text).resources);
const whole = snapshotOf(objects);
const sound = translate(whole, OPTIONS);

function without(object: Resource): Snapshot {
  return whole.apply({ put: [], remove: [refOf(object)] });
}

function outputsOf({ networking, discovery }: Translation): ReadonlyMap<string, string> {
  return new Map([...discovery, ...networking].map(({ resource }) => [resourceKeyOf(refOf(resource)), canonicalJson(resource)]));
}

/** The folder of the sources in which an error was thrown. */
function stepOf(stack: string): string {
  const file = /packages\/translators\/src\/((?:[\w-]+\/)*)[\w-]+\.ts/.exec(stack)?.[1] ?? "";
  const [stage = "", part = ""] = file.split("/");
  return stage === "meshes" ? `${stage}/${part}` : stage;
}

const places = runs(30);
const STEPS = ["attachment", "discovery", "meshes/istio", "pipeline", "policy"];

/** Some reads of all, the first and the last among them. */
function someOf(count: number): readonly number[] {
  const step = Math.max(1, Math.floor(count / places));
  return [...new Set([1, 2, ...Array.from({ length: places }, (_, i) => 1 + i * step), count])].filter((one) => one >= 1 && one <= count);
}

// Steps call each other deeply.
Error.stackTraceLimit = 100;
const steps = new Map<string, Set<string>>();

// One of each kind that was given.
const kinds = [...new Map(objects.map((object) => [object.kind, object])).values()];

test.each(kinds.map((object) => [formatRef(refOf(object)), object] as const))("%s: a throw costs it alone", (_, object) => {
  const counted = throwingObject(object, Number.POSITIVE_INFINITY);
  const given = without(object).apply({ put: [counted.object], remove: [] });
  expect(translate(given, OPTIONS).faults.size).toBe(0);
  const key = resourceKeyOf(refOf(object));
  const lacking = outputsOf(translate(without(object), OPTIONS));
  const unchanged = outputsOf(sound);
  for (const from of someOf(counted.reads)) {
    const cold = throwingObject(object, from);
    const now = translate(without(object).apply({ put: [cold.object], remove: [] }), OPTIONS);
    expect([...now.faults.keys()], `from scratch, at read ${from}`).toEqual([key]);
    const fault = now.faults.get(key);
    if (fault?.inPlace === undefined) expect(outputsOf(now), `from scratch, at read ${from}`).toEqual(lacking);
    steps.set(stepOf(cold.stack ?? ""), (steps.get(stepOf(cold.stack ?? "")) ?? new Set()).add(object.kind));

    // It was right once: then it stays as it was.
    const warm = throwingObject(object, from);
    const next = translate(whole.apply({ put: [warm.object], remove: [] }), OPTIONS, sound);
    if (next.faults.size > 0) {
      expect([...next.faults.keys()]).toEqual([key]);
      expect(outputsOf(next), `after a change, at read ${from}`).toEqual(unchanged);
      expect(newReports(next, sound)).toMatchObject([{ subject: refOf(object), state: "FAILED", code: "InternalError" }]);
    }
  }
});

test("every step has thrown", () => {
  const thrown = [...steps.keys()].sort();
  // A few places in each object miss a step that hardly reads it.
  if (places < 10) expect(STEPS).toEqual(expect.arrayContaining(thrown));
  else expect(thrown).toEqual(STEPS);
  expect(thrown.length).toBeGreaterThan(2);
});

const users = kinds.filter(({ kind }) =>
  ["TrafficPolicy", "AccessPolicy", "VirtualMesh", "VirtualDestination", "ServiceDependency"].includes(kind),
);

test.each(users.map((object) => [formatRef(refOf(object)), object] as const))("%s: its status says so", (_, object) => {
  const ref = refOf(object);
  const others = (statuses: ReturnType<typeof statusesAfter>) =>
    new Map(
      [...statuses.all()].filter((one) => one.ref.kind !== object.kind).map((one) => [resourceKeyOf(one.ref), canonicalJson(one.status)]),
    );
  const before = statusesAfter(sound, undefined);
  const next = translate(whole.apply({ put: [throwingObject(object, 1).object], remove: [] }), OPTIONS, sound);
  const now = statusesAfter(next, undefined, before);
  const effect = "this object is in force as it last was";
  const message = `internal error (Thrown: a step has a bug): ${effect}; this is a bug of the management plane: report it with the log of the server`;
  expect(now.of(ref)?.status).toMatchObject({
    state: "FAILED",
    errors: [message],
    conditions: [{ type: "Accepted", status: "False", reason: "InternalError", message }, { type: "Translated" }],
  });
  expect(changedStatuses(now, before).map(resourceKeyOf)).toEqual([resourceKeyOf(ref)]);
  expect(others(now)).toEqual(others(before));
  expect([...now.all()].filter((one) => resourceKeyOf(one.ref) === resourceKeyOf(ref))).toHaveLength(1);
  // It is right again.
  const right = translate(whole, OPTIONS, next);
  expect(right.faults.size).toBe(0);
  const last = statusesAfter(right, undefined, now);
  expect(last.of(ref)).toEqual(before.of(ref));
  expect(changedStatuses(last, now).map(resourceKeyOf)).toEqual([resourceKeyOf(ref)]);
});

test("what throws only when its status is made has a status that says so, and no other is touched", () => {
  const policy = objects.find(({ kind }) => kind === "TrafficPolicy") as Resource;
  const counted = throwingObject(policy, Number.POSITIVE_INFINITY);
  translate(without(policy).apply({ put: [counted.object], remove: [] }), OPTIONS);
  const late = throwingObject(policy, counted.reads + 1);
  const world = translate(without(policy).apply({ put: [late.object], remove: [] }), OPTIONS);
  expect(world.faults.size).toBe(0);
  const statuses = statusesAfter(world, undefined);
  expect(late.stack).toMatch(/src\/statuses\//);
  const { status } = statuses.of(refOf(policy)) ?? {};
  expect(status).toMatchObject({ state: "FAILED", conditions: [{ type: "Accepted", status: "False", reason: "InternalError" }] });
  const all = statusesAfter(sound, undefined);
  for (const ref of users.map(refOf)) {
    if (ref.kind !== policy.kind) expect(statuses.of(ref)).toEqual(all.of(ref));
  }
});

test("an AccessPolicy that throws and was never in force denies all callers where it seems to be about", () => {
  const policy = objects.find(({ kind }) => kind === "AccessPolicy") as Resource;
  const [name, closed] = closedBy(policy);
  expect(name).toMatch(/AuthorizationPolicy/);
  expect(closed).toEqual([]);
});

/** The rules on reviews while the callers of a policy throw. */
function closedBy(policy: Resource): readonly [string, unknown] {
  const { spec } = policy as unknown as { readonly spec: { readonly destinationSelector: unknown } };
  const throwing = {
    ...policy,
    spec: {
      destinationSelector: spec.destinationSelector,
      get sourceSelector(): never {
        throw new Thrown("a step has a bug");
      },
    },
  };
  const world = translate(without(policy).apply({ put: [throwing], remove: [] }), OPTIONS);
  expect([...world.faults.values()]).toMatchObject([{ isClosed: true }]);
  const [output] = [...world.networking.inCluster("cluster-1")].filter(({ resource }) => resource.kind === "AuthorizationPolicy");
  if (output === undefined) return ["", undefined];
  return [formatRef(refOf(output.resource)), (output.resource as { readonly spec?: { readonly rules?: unknown } }).spec?.rules ?? []];
}

test("more faults than single objects have end the run", () => {
  const many = Array.from({ length: 70 }, (_, i) => {
    const policy = objects.find(({ kind }) => kind === "TrafficPolicy") as Resource;
    return throwingObject({ ...policy, metadata: { ...policy.metadata, name: `p-${i}` } }, 1).object;
  });
  expect(() => translate(whole.apply({ put: many, remove: [] }), OPTIONS, sound)).toThrow("a step has a bug");
});

test("of several at once each costs itself, and what was right is taken up", () => {
  const services = objects.filter(({ kind }) => kind === "Service").slice(0, 2);
  const policy = objects.find(({ kind }) => kind === "TrafficPolicy") as Resource;
  const put = [...services, policy].map((object) => throwingObject(object, 1).object);
  const added = { ...policy, metadata: { ...policy.metadata, name: "added" } };
  const world = translate(whole.apply({ put: [...put, added], remove: [] }), OPTIONS, sound);
  expect(new Set(world.faults.keys())).toEqual(new Set([...services, policy].map((object) => resourceKeyOf(refOf(object)))));
  expect(outputsOf(world)).toEqual(outputsOf(translate(whole.apply({ put: [added], remove: [] }), OPTIONS)));
});
