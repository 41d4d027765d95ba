import type { Resource } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { FIELD_MANAGER, isWrittenByUs, otherManagersOf } from "../src/apply/ownership.ts";

function writtenBy(...managers: unknown[]): Resource {
  const managedFields = managers.map((manager) => ({ manager, operation: "Apply" }));
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one", managedFields } } as Resource;
}

describe("the other field managers of an object", () => {
  it("are named once each, and ours is not among them", () => {
    expect(otherManagersOf(writtenBy("kubectl", FIELD_MANAGER, "helm", "kubectl"))).toEqual(["kubectl", "helm"]);
    expect(otherManagersOf(writtenBy(FIELD_MANAGER))).toEqual([]);
  });

  it("are none of an object that is not there, that nobody is known to have written, or whose entries have no name", () => {
    expect(otherManagersOf(undefined)).toEqual([]);
    expect(otherManagersOf({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one" } })).toEqual([]);
    expect(otherManagersOf(writtenBy(undefined, 7))).toEqual([]);
  });
});

describe("an object", () => {
  it("was written by us only if our field manager is among its managers", () => {
    expect(isWrittenByUs(writtenBy("kubectl", FIELD_MANAGER))).toBe(true);
    expect(isWrittenByUs(writtenBy("kubectl"))).toBe(false);
    expect(isWrittenByUs({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one" } })).toBe(false);
  });
});
