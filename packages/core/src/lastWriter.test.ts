import { expect, test } from "vitest";
import { LAST_WRITER, lastWriterOf, withLastWriter } from "./lastWriter.ts";
import type { Resource } from "./resource.ts";

const policy: Resource = { apiVersion: "v1", kind: "Policy", metadata: { name: "a", namespace: "b" } };
const spec = { "f:spec": {} };
const entry = (manager: string, time: string, more: object = {}) => ({ manager, time, operation: "Update", fieldsV1: spec, ...more });

test("of several managers of a spec the one that wrote last counts, and none that wrote the status or labels", () => {
  const read = withLastWriter(policy, [
    entry("kubectl-client-side-apply", "2026-01-01T10:00:00Z"),
    entry("kubectl-edit", "2026-01-01T12:00:00Z"),
    entry("argocd controller", "2026-01-01T12:00:00Z"),
    entry("gloo-mesh", "2026-01-01T13:00:00Z", { subresource: "status", fieldsV1: { "f:status": {} } }),
    entry("kubectl-label", "2026-01-01T14:00:00Z", { fieldsV1: { "f:metadata": {} } }),
  ]);
  expect(lastWriterOf(read)).toEqual({ manager: "argocd controller", time: "2026-01-01T12:00:00Z" });
  expect(read.metadata.name).toBe("a");
});

test("what an object says itself does not count, also where its API server names nobody", () => {
  const claimed = { ...policy, metadata: { ...policy.metadata, annotations: { [LAST_WRITER]: "2026-01-01T10:00:00Z admin" } } };
  expect(lastWriterOf(withLastWriter(claimed, [entry("eve", "2026-01-02T10:00:00Z")]))?.manager).toBe("eve");
  expect(withLastWriter(claimed, undefined)).toEqual(policy);
  const others = { ...claimed, metadata: { ...claimed.metadata, annotations: { ...claimed.metadata.annotations, a: "b" } } };
  expect(withLastWriter(others, []).metadata.annotations).toEqual({ a: "b" });
  for (const text of [
    "nothing",
    "yesterday eve",
    "2026-01-01T10:00:00Z ",
    `2026-01-01T10:00:00Z ${"m".repeat(129)}`,
    "2026-01-01T10:00:00Z",
  ])
    expect(lastWriterOf({ metadata: { name: "a", annotations: { [LAST_WRITER]: text } } })).toBeUndefined();
});

test("an object stays the same where nobody is named, and what is no field manager is left out", () => {
  expect(withLastWriter(policy, undefined)).toBe(policy);
  const wrong = [
    "a",
    null,
    entry("", "2026-01-01T10:00:00Z"),
    entry("a", "yesterday"),
    entry("a", "2026-01-01T10:00:00Z", { fieldsV1: "f:spec" }),
    { ...entry("a", "2026-01-01T10:00:00Z"), manager: 1 },
  ];
  expect(withLastWriter(policy, wrong)).toBe(policy);
  expect(withLastWriter(policy, "all")).toBe(policy);
  expect(lastWriterOf(withLastWriter(policy, [entry("m".repeat(500), "2026-01-01T10:00:00Z")]))?.manager).toHaveLength(128);
});
