import { AccessPolicy, KubernetesCluster, Settings, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import { type AnyResource, InvalidResource, type Kind, keyOfResource } from "@isthmus/core";
import { sampled } from "@isthmus/testing";
import { describe, expect, test } from "vitest";
import { effectsOf } from "./schemaEffects.ts";
import { exampleFor, fieldsOf, objectSaying, specOf, USER_KINDS } from "./schemaExamples.ts";
import { concretePath, exampleOf, objectsOf, renamed, type SchemaNode, withField } from "./schemaFields.ts";
import { reachOf } from "./selectionReach.ts";

/** What is no field of any object, nor near to one. */
const UNKNOWN = "xUnknown";
const misspelt = (name: string) => `${name.slice(0, -1)}z${name.slice(-1)}`;

// Whatever is in them is theirs: no field of it is known, and none unknown.
const FREE: Readonly<Record<string, readonly string[]>> = { [KubernetesCluster.kind]: ["spec.providerInfo"] };

function levelsOf(kind: Kind) {
  return objectsOf(specOf(kind), "spec").filter(({ path }) => !(FREE[kind.kind] ?? []).includes(path));
}

describe.each(USER_KINDS.map((kind) => [kind.kind, kind] as const))("unknown fields of %s", (_, kind) => {
  test.each(levelsOf(kind).map(({ path, schema }) => [path, schema] as const))("%s", async (path, schema) => {
    const { given, beside } = exampleFor(kind, path);
    const object = objectSaying(kind, given);
    for (const [name, value] of unknownMembers(schema)) {
      const { told } = await effectsOf(kind, withField(object, `${path}.${name}`, value), beside);
      expect(told.filter((message) => message.includes(`${concretePath(path)}.${name}`))).not.toEqual([]);
    }
  });
});

function unknownMembers({ properties = {} }: SchemaNode): readonly (readonly [string, unknown])[] {
  const known = Object.entries(properties).map(([name, schema]) => [misspelt(name), exampleOf(schema)] as const);
  return [[UNKNOWN, 1], ...sampled(known)];
}

test.each<Readonly<Record<string, unknown>>>([
  { "spec.from": [{ principal: "a/ns/b/sa/c" }] },
  { "spec.requiredHeaders": { "x-user": "a" } },
])("an AccessPolicy with %j is refused and denies all callers", async (given) => {
  const policy = { "spec.destinationSelector": [{ kubeServiceMatcher: { namespaces: ["shop"] } }] };
  const object = objectSaying(AccessPolicy, { ...policy, ...given });
  const [field = ""] = Object.keys(given);
  expect((await effectsOf(AccessPolicy, object, [])).told).toContainEqual(expect.stringMatching(`^INVALID ${field}: unknown field`));
  const reached = [...(await reachOf(AccessPolicy, object, []))];
  expect(reached.filter((one) => one.includes(" shop ") || one.includes(".shop."))).toEqual([]);
});

const SELECTING: readonly Kind[] = [TrafficPolicy, AccessPolicy, VirtualMesh, Settings];
/** Where a field says which things an object is about, or lets in. */
const SELECTS: Readonly<Record<string, RegExp>> = {
  [TrafficPolicy.kind]: /^spec\.(sourceSelector|destinationSelector|httpRequestMatchers)/,
  [AccessPolicy.kind]: /^spec/,
  [VirtualMesh.kind]: /^spec\.(meshes|federation\.(selectors|permissive|eastWest)|globalAccessPolicy)/,
  [Settings.kind]: /^spec\.(policies|workloadClusterResources|relay\.(registration|sharedToken)|discovery\.selectors|cilium\.allowFrom)/,
};

describe.each(SELECTING.map((kind) => [kind.kind, kind] as const))("what is not understood in %s widens nothing", (_, kind) => {
  const selects = SELECTS[kind.kind] ?? /^$/;

  test.each(levelsOf(kind).map(({ path }) => path))("%s with an unknown member", async (path) => {
    const { given, beside } = exampleFor(kind, path);
    const object = withField(objectSaying(kind, given), `${path}.${UNKNOWN}`, 1);
    await expectWithin(kind, object, { right: renamed(object, `${path}.${UNKNOWN}`, undefined), beside });
  });

  const fields = fieldsOf(kind).filter(({ path, schema }) => selects.test(path) && schema.unsupported === undefined);
  const places = fields.flatMap(({ path, schema }) =>
    ancestorsOf(path).map((place) => [`${place} on the way to ${path}`, { path, place, schema }] as const),
  );
  test.each(sampled(places))("%s misspelt", async (_name, { path, place, schema }) => {
    const { given, beside, value = restrictive(kind, path) ?? exampleOf(schema) } = exampleFor(kind, path);
    const right = withField(objectSaying(kind, given), path, restrictive(kind, path) ?? value);
    await expectWithin(kind, renamed(right, place, misspelt), { right, beside });
  });
});

/** The value of a setting that lets less in than its default, or than what stands beside it. */
function restrictive(kind: Kind, path: string): unknown {
  return kind === Settings ? RESTRICTIVE[path] : undefined;
}

const RESTRICTIVE: Readonly<Record<string, unknown>> = {
  "spec.workloadClusterResources.targets": "OWN_DESTINATIONS",
  "spec.workloadClusterResources.clusters{}": "OWN_DESTINATIONS",
  "spec.workloadClusterResources.virtualMeshes": "REFUSED",
  "spec.relay.sharedToken": "NEW_NAMES",
  "spec.policies.headerOperators": "REFUSED",
  "spec.policies.sharedTrustDomain": "REFUSE",
};

/** The fields that lead to one, itself included: each may be misspelt. No entries of lists or maps, whose names are users' own. */
function ancestorsOf(path: string): readonly string[] {
  const steps = path.split(".");
  return steps.slice(1).map((_, i) =>
    steps
      .slice(0, i + 2)
      .join(".")
      .replace(/(\[\]|\{\})$/, ""),
  );
}

interface Bound {
  readonly right: AnyResource;
  readonly beside: readonly AnyResource[];
}

async function expectWithin(kind: Kind, object: AnyResource, { right, beside }: Bound): Promise<void> {
  // Without a required field it is no object of its kind: neither an API server nor a file intake takes it.
  if (isRefused(kind, object)) return;
  const [reached, allowed] = [await reachOf(kind, object, beside), await reachOf(kind, right, beside)];
  const names = `${kind.kind} ${keyOfResource(object)}`;
  expect(
    [...reached].filter((one) => !allowed.has(one)),
    names,
  ).toEqual([]);
}

function isRefused(kind: Kind, object: AnyResource): boolean {
  try {
    kind.parse(object);
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidResource);
    expect(String(error)).toMatch(/: is required$/);
    return true;
  }
}
