import { equalJson } from "@isthmus/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyManaged } from "../src/apply/apply.ts";
import type { FieldManager, Writer } from "../src/apply/fieldManagers.ts";
import { afterUpdate, managedFieldsOf } from "../src/apply/fieldManagers.ts";
import { changesBetween, fieldsOf } from "../src/apply/fieldSet.ts";

type Content = Readonly<Record<string, unknown>>;
interface Live {
  readonly content: Content;
  readonly managers: readonly FieldManager[];
}

const kindKey = "apps/Deployment";
const root = { kindKey, path: "" };
const nothing: Live = { content: {}, managers: [] };

function writer(manager: string, operation: "Apply" | "Update" = "Apply"): Writer {
  return { manager, operation, subresource: "", apiVersion: "apps/v1", time: "2025-01-01T00:00:00Z" };
}

function apply(live: Live, manager: string, wanted: Content, force = false): Live {
  return applyManaged<Content>(live, { desired: wanted, writer: writer(manager), force, kindKey });
}

function update(live: Live, manager: string, content: Content): Live {
  const changes = changesBetween(live.content, content, root);
  return { content, managers: afterUpdate(live.managers, writer(manager, "Update"), changes) };
}

// Few names, so that managers meet. Empty objects are left out: what is nothing can't be distinguished from what is absent.
const scalar = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constantFrom("a", "b"), fc.boolean());
const name = fc.constantFrom("a", "b", "c", "d");
const tree: fc.Arbitrary<Content> = fc.letrec<{ tree: Content; value: unknown }>((tie) => ({
  tree: fc.dictionary(name, tie("value"), { minKeys: 1, maxKeys: 4 }),
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(scalar, { minLength: 1, maxLength: 2 }), tie("tree")),
})).tree;
const containers = fc
  .uniqueArray(
    fc.record({ name, image: fc.constantFrom("1", "2"), env: fc.option(tree, { nil: undefined }) }, { requiredKeys: ["name"] }),
    {
      selector: (container) => container.name,
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((list) => ({ template: { spec: { containers: list } } }));
const content: fc.Arbitrary<Content> = fc.record({ data: tree, spec: containers }, { requiredKeys: [] });

/** Without objects and lists that hold nothing. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([field, member]) => [field, pruned(member)] as const);
  const kept = members.filter(([, member]) => member !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The elements of keyed lists in order of name: which manager came first is nobody's wish. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) {
    const elements = value.map(ordered) as (Content & { readonly name?: string })[];
    return elements.every((element) => element?.name !== undefined)
      ? [...elements].sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1))
      : elements;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([field, member]) => [field, ordered(member)]));
}

describe("server-side apply", () => {
  it("changes nothing the second time", () => {
    fc.assert(
      fc.property(content, content, (theirs, wanted) => {
        const once = apply(apply(nothing, "bob", theirs), "alice", wanted, true);
        const twice = apply(once, "alice", wanted);
        expect(twice.content).toBe(once.content);
        expect(managedFieldsOf(twice.managers)).toEqual(managedFieldsOf(once.managers));
      }),
    );
  });

  it("makes everything so as it was desired, and its manager the owner of just that", () => {
    fc.assert(
      fc.property(content, content, content, (before, theirs, wanted) => {
        const live = apply(update(nothing, "carol", before), "bob", theirs, true);
        const { content: result, managers } = apply(live, "alice", wanted, true);
        expect(changesBetween(result, apply({ content: result, managers: [] }, "x", wanted).content, root)).toEqual(
          changesBetween({}, {}, root),
        );
        expect(managers.find(({ manager }) => manager === "alice")?.fields ?? new Set()).toEqual(fieldsOf(wanted, root));
      }),
    );
  });

  it("never changes a field of another manager without force", () => {
    fc.assert(
      fc.property(content, content, (theirs, wanted) => {
        const live = apply(nothing, "bob", theirs);
        let after = live;
        try {
          after = apply(live, "alice", wanted);
        } catch {
          return;
        }
        const { modified, removed, added } = changesBetween(live.content, after.content, root);
        const owned = fieldsOf(theirs, root);
        expect([...modified, ...removed, ...added].filter((path) => owned.has(path))).toEqual([]);
      }),
    );
  });

  it("gives the same the one who of two managers of different fields comes first", () => {
    fc.assert(
      fc.property(content, fc.infiniteStream(fc.boolean()), (whole, choices) => {
        const [alices, bobs] = split(whole, choices);
        const one = apply(apply(nothing, "alice", alices), "bob", bobs);
        const other = apply(apply(nothing, "bob", bobs), "alice", alices);
        expect(ordered(one.content)).toEqual(ordered(other.content));
        expect(one.managers.map(({ manager }) => manager).sort()).toEqual(other.managers.map(({ manager }) => manager).sort());
      }),
    );
  });

  it("leaves nothing of a manager that withdraws but what others want", () => {
    fc.assert(
      fc.property(content, fc.infiniteStream(fc.boolean()), (whole, choices) => {
        const [alices, bobs] = split(whole, choices);
        const both = apply(apply(nothing, "bob", bobs), "alice", alices);
        const { content: left, managers } = apply(both, "alice", {});
        expect(pruned(left)).toEqual(pruned(bobs));
        expect(managers.every(({ manager }) => manager === "bob")).toBe(true);
      }),
    );
  });

  it("lets an updater own what it changed, and nobody what is gone", () => {
    fc.assert(
      fc.property(content, content, (before, after) => {
        const live = update(apply(nothing, "alice", before), "bob", after);
        const owned = live.managers.flatMap(({ fields }) => [...fields]);
        expect(new Set(owned)).toEqual(fieldsOf(after, root));
        const same = update(live, "carol", structuredClone(after));
        expect(equalJson(managedFieldsOf(same.managers), managedFieldsOf(live.managers))).toBe(true);
      }),
    );
  });
});

describe("field sets", () => {
  it("are written as an API server writes them", () => {
    const spec = { replicas: 2, template: { spec: { containers: [{ name: "web", ports: [{ containerPort: 80 }], args: ["-v"] }] } } };
    const { managers } = apply(nothing, "alice", { spec, metadata: { finalizers: ["isthmus.mesh/test"] } });
    expect(managedFieldsOf(managers)).toEqual([
      {
        manager: "alice",
        operation: "Apply",
        apiVersion: "apps/v1",
        time: "2025-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": { "f:finalizers": { 'v:"isthmus.mesh/test"': {} } },
          "f:spec": {
            "f:replicas": {},
            "f:template": {
              "f:spec": {
                "f:containers": {
                  'k:{"name":"web"}': {
                    ".": {},
                    "f:name": {},
                    "f:args": {},
                    "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } },
                  },
                },
              },
            },
          },
        },
      },
    ]);
  });
});

/** Deals the fields of an object out to two managers; an element of a keyed list that both get a part of keeps its name in both. */
function split(value: Content, choices: fc.Stream<boolean>): [Content, Content] {
  const deal = (part: unknown): [unknown, unknown] => {
    if (Array.isArray(part) && part.every((element) => typeof element === "object" && element !== null)) {
      const dealt = part.map((element) => {
        const { name: key, ...rest } = element as Content;
        const halves = deal(rest);
        return halves.map((half) => (half === undefined ? undefined : { name: key, ...(half as Content) }));
      });
      return [0, 1].map((i) => listOrNothing(dealt.flatMap((halves) => (halves[i] === undefined ? [] : [halves[i]])))) as [
        unknown,
        unknown,
      ];
    }
    if (typeof part !== "object" || part === null || Array.isArray(part))
      return choices.next().value === true ? [part, undefined] : [undefined, part];
    const halves = Object.entries(part).map(([field, member]) => [field, deal(member)] as const);
    return [0, 1].map((i) => {
      const own = halves.flatMap(([field, dealt]) => (dealt[i as 0 | 1] === undefined ? [] : [[field, dealt[i as 0 | 1]]]));
      return own.length === 0 ? undefined : Object.fromEntries(own);
    }) as [unknown, unknown];
  };
  const [alices, bobs] = deal(value);
  return [(alices ?? {}) as Content, (bobs ?? {}) as Content];
}

function listOrNothing(list: readonly unknown[]): readonly unknown[] | undefined {
  return list.length === 0 ? undefined : list;
}
