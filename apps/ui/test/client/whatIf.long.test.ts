import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { equalJson, kindKeyOf, type Resource, refOf, runToCompletion, snapshotOf } from "@isthmus/core";
import { readInput, sampled, withThrowingMember } from "@isthmus/testing";
import { statusesOf, translate } from "@isthmus/translators";
import { describe, expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { POLICY_KINDS } from "../../client/data/kinds.ts";
import { fleetTranslation } from "../../client/translation/fleetTranslation.ts";
import { pastedObjects } from "../../client/translation/pastedObjects.ts";
import { whatIf, withoutPolicy } from "../../client/translation/whatIf.ts";

const NOW = "2026-01-02T03:04:05.000Z";
const OPTIONS = { namespace: "gloo-mesh", stage: "networking" } as const;
const POLICIES = new Set(POLICY_KINDS.map(kindKeyOf));
const isPolicy = (resource: Resource) => POLICIES.has(kindKeyOf(resource)) && (resource.metadata.clusterName ?? "") === "";

const folder = "packages/translators/testdata";
const cases = ["routes", "authorizationPolicies", "virtualDestinations", "failover", "destinationRules"].flatMap((topic) =>
  readdirSync(join(folder, topic), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".in.yaml"))
    .map((name) => ({ name: join(topic, name), ...readInput(readFileSync(join(folder, topic, name), "utf8")) }))
    .filter(({ options, resources }) => Object.keys(options).length === 0 && resources.some(isPolicy)),
);

/** What the browser has of a fleet. */
function fleetOf(resources: readonly Resource[]): Fleet {
  const { attached, networking } = translate(snapshotOf(resources), OPTIONS);
  return { ...emptyFleet(), snapshot: attached, generated: snapshotOf([...networking].map(({ resource }) => resource)), isReady: true };
}

describe("what if", () => {
  it.each(sampled(cases))("translates as the server does, and compares with what is: $name", ({ resources }) => {
    const policy = resources.find(isPolicy) as Resource;
    const others = resources.filter((resource) => resource !== policy);
    const base = runToCompletion(fleetTranslation(fleetOf(others), undefined));
    expect(base.unlike).toBe(0);
    const { objects, problems } = pastedObjects(JSON.stringify(policy));
    expect(problems).toEqual([]);
    const result = runToCompletion(whatIf(base, objects));

    const written = { ...objects[0], metadata: { ...objects[0]?.metadata, creationTimestamp: NOW, generation: 1 } } as Resource;
    const before = translate(snapshotOf(others), OPTIONS);
    const after = translate(snapshotOf([...others, written]), OPTIONS);
    const expected = after.networking
      .changesSince(before.networking)
      .filter((change) => !equalJson(change.before?.resource, change.after?.resource))
      .map((change) => [change.key, change.before?.resource, change.after?.resource]);
    expect(result.outputs.map((change) => [change.key, change.before, change.after])).toEqual(expected);
    const status = statusesOf(after).find(({ ref }) => ref.name === written.metadata.name && ref.kind === written.kind)?.status;
    expect(result.proposed[0]?.after).toMatchObject({ status });
  });

  it.each(sampled(cases))("shows what is there because of a policy: what differs without it: $name", ({ resources }) => {
    const policy = resources.find(isPolicy) as Resource;
    const base = runToCompletion(fleetTranslation(fleetOf(resources), undefined));
    const changes = runToCompletion(withoutPolicy(base, refOf(policy)));
    const before = translate(snapshotOf(resources.filter((resource) => resource !== policy)), OPTIONS);
    const after = translate(snapshotOf(resources), OPTIONS);
    const expected = after.networking
      .changesSince(before.networking)
      .filter((change) => !equalJson(change.before?.resource, change.after?.resource))
      .map((change) => [change.key, change.before?.resource, change.after?.resource]);
    expect(changes.map((change) => [change.key, change.before, change.after]).sort()).toEqual(expected.sort());
  });

  it("a policy on which translation throws costs itself, in the fleet and as a proposal", async () => {
    const { resources } = cases.find(({ name }) => name.includes("timeout")) ?? cases[0] ?? { resources: [] };
    const policy = resources.find(isPolicy) as Resource;
    const bad = {
      ...policy,
      metadata: { ...policy.metadata, name: "bad" },
      spec: { ...(policy as { readonly spec?: object }).spec, policy: { requestTimeout: "7s" } },
    } as Resource;
    const isBad = (object: object) => (object as { readonly requestTimeout?: string }).requestTimeout === "7s";
    const sound = runToCompletion(fleetTranslation(fleetOf(resources), undefined));
    const snapshot = fleetOf(resources).snapshot.apply({ put: [bad], remove: [] });
    await withThrowingMember("corsPolicy", isBad, () => {
      const base = runToCompletion(fleetTranslation({ ...fleetOf(resources), snapshot }, undefined));
      expect(base.statuses.of(refOf(bad))?.status).toMatchObject({
        state: "FAILED",
        errors: [expect.stringContaining("a step has a bug")],
      });
      expect([...base.translation.networking].map(({ resource }) => resource)).toEqual(
        [...sound.translation.networking].map(({ resource }) => resource),
      );
      const { outputs, proposed } = runToCompletion(whatIf(sound, pastedObjects(JSON.stringify(bad)).objects));
      expect(outputs).toEqual([]);
      expect(proposed[0]?.after).toMatchObject({ status: { state: "FAILED" } });
    });
  });

  it("covers objects that change, and policies that are refused", () => {
    let [changing, refused] = [0, 0];
    // No more than it takes to see.
    for (const { resources } of cases) {
      if (changing > 3 && refused > 0) break;
      const base = runToCompletion(fleetTranslation(fleetOf(resources), undefined));
      const policy = resources.find(isPolicy) as Resource;
      const twin = { ...policy, metadata: { ...policy.metadata, name: "twin" } };
      const { outputs, proposed } = runToCompletion(whatIf(base, pastedObjects(JSON.stringify(twin)).objects));
      if (outputs.length > 0) changing++;
      if (JSON.stringify(proposed[0]?.after).includes("INVALID")) refused++;
    }
    expect(changing).toBeGreaterThan(3);
    expect(refused).toBeGreaterThan(0);
  });

  it("lets a policy that exists have precedence, although its creation is later than all that the browser knows of time", () => {
    const policy = (name: string, requestTimeout: string, metadata = {}) =>
      ({
        apiVersion: "networking.mesh.gloo.solo.io/v1",
        kind: "TrafficPolicy",
        metadata: { name, namespace: "bookinfo", clusterName: "", ...metadata },
        spec: { policy: { requestTimeout } },
      }) as Resource;
    const { resources } = readInput(readFileSync(join(folder, "routes/requests-have-a-time-limit.in.yaml"), "utf8"));
    const others = resources.filter((resource) => !isPolicy(resource));
    const existing = policy("existing", "2s", { creationTimestamp: "2999-01-01T00:00:00Z" });
    const base = runToCompletion(fleetTranslation(fleetOf([...others, existing]), undefined));
    const result = runToCompletion(whatIf(base, pastedObjects(JSON.stringify(policy("a-new-one", "3s"))).objects));
    expect(result.outputs).toEqual([]);
    expect(JSON.stringify(result.proposed[0]?.after)).toContain("TrafficPolicy bookinfo/existing has precedence");
  });

  it("follows a fleet at the cost of what changed, with the same result as from scratch", () => {
    const { resources } = cases[0] as (typeof cases)[number];
    const fewer = resources.slice(0, -1);
    const first = runToCompletion(fleetTranslation(fleetOf(fewer), undefined));
    const next = runToCompletion(fleetTranslation(fleetOf(resources), first));
    const scratch = runToCompletion(fleetTranslation(fleetOf(resources), undefined));
    expect(next.unlike).toBe(0);
    expect([...next.translation.networking].map(({ resource }) => resource)).toEqual(
      [...scratch.translation.networking].map(({ resource }) => resource),
    );
  });
});

describe("pasted text", () => {
  it("is read as kubectl would, in several documents", () => {
    const text = "kind: TrafficPolicy\napiVersion: networking.mesh.gloo.solo.io/v1\nmetadata: {name: a}\n---\n---\n# nothing\n";
    const { objects, problems } = pastedObjects(text);
    expect(problems).toEqual([]);
    expect(objects.map(({ metadata }) => metadata)).toEqual([{ name: "a", namespace: "default" }]);
  });

  it("is only of the management cluster, whatever it says", () => {
    const text = "kind: AccessPolicy\napiVersion: networking.mesh.gloo.solo.io/v1\nmetadata: {name: a, clusterName: cluster-9}\n";
    expect(pastedObjects(text).objects[0]?.metadata.clusterName).toBeUndefined();
  });

  it.each([
    ["a: [b", /Document 1: .*line 1/],
    ["- 1", /no object/],
    ["kind: Secret\napiVersion: v1\nmetadata: {name: a}", /Secret/],
    ["kind: Mesh\napiVersion: discovery.mesh.gloo.solo.io/v1\nmetadata: {name: a}", /Mesh is no policy/],
    ["kind: TrafficPolicy\napiVersion: networking.mesh.gloo.solo.io/v1\nmetadata: {name: <img src=x>}", /not a valid name/],
    [
      "kind: TrafficPolicy\napiVersion: networking.mesh.gloo.solo.io/v1\nmetadata: {name: a}\nspec: {policy: {requestTimeout: 5}}",
      /duration/,
    ],
    ["kind: constructor\napiVersion: __proto__", /constructor/],
    ["a: *b", /alias/i],
    [`${"- ".repeat(4_000)}x`, /nested deeper/],
    ["x".repeat(300_000), /longer than 256 KiB/],
    [
      `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, i) => `b${i}: &b${i} [${`*${i === 0 ? "a" : `b${i - 1}`},`.repeat(9)}]`).join("\n")}`,
      /alias|larger/i,
    ],
  ])("that cannot be used gives a reason, and never throws: %#", (text, reason) => {
    const { objects, problems } = pastedObjects(text);
    expect(objects).toEqual([]);
    expect(problems.join("\n")).toMatch(reason);
  });
});
