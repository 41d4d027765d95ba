import type { Resource } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { differingFields } from "../src/apply/differingFields.ts";

type Metadata = Pick<Resource["metadata"], "labels" | "annotations">;

function entry(spec: object, metadata: Metadata = {}): Resource & { readonly spec: object } {
  return { apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata: { name: "one", ...metadata }, spec };
}

const SPEC = { hosts: ["one.global"], resolution: "NONE" };

describe("differing fields", () => {
  it("are named as paths, whether changed, missing or added", () => {
    const live = entry({ hosts: ["edited.example"], location: "MESH_INTERNAL" });
    expect(differingFields(live, entry(SPEC), 10)).toEqual(["spec.hosts", "spec.resolution", "spec.location"]);
    expect(differingFields(entry(SPEC), entry(SPEC), 10)).toEqual([]);
  });

  it("are named where the whole of a part is missing or added", () => {
    expect(differingFields(entry({}), entry({ policy: { retries: 1 } }), 10)).toEqual(["spec.policy"]);
    expect(differingFields(entry({ policy: { retries: 1 } }), entry({}), 10)).toEqual(["spec.policy"]);
  });

  it("lie no deeper than a person needs", () => {
    const nested = (seconds: number) => entry({ policy: { retries: { timeout: { seconds } } } });
    expect(differingFields(nested(1), nested(2), 10)).toEqual(["spec.policy.retries"]);
  });

  it("are the first few", () => {
    expect(differingFields(entry({}), entry({ a: 1, b: 2, c: 3 }), 2)).toEqual(["spec.a", "spec.b"]);
    expect(differingFields(entry(SPEC), entry(SPEC, { labels: { a: "1", b: "2", c: "3" } }), 2)).toHaveLength(2);
  });

  it("include the labels and annotations that are desired, and not those that others have added", () => {
    const desired = entry(SPEC, { labels: { app: "shop", tier: "front" }, annotations: { note: "ours" } });
    const live = entry(SPEC, { labels: { app: "shop", tier: "back", team: "theirs" }, annotations: { theirs: "note" } });
    expect(differingFields(live, desired, 10)).toEqual(["metadata.labels[tier]", "metadata.annotations[note]"]);
    expect(differingFields(entry(SPEC), desired, 10)).toEqual([
      "metadata.labels[app]",
      "metadata.labels[tier]",
      "metadata.annotations[note]",
    ]);
  });

  it("are none in what the API server, or another owner, adds to an object", () => {
    const live = { ...entry(SPEC), metadata: { name: "one", resourceVersion: "7", uid: "u" }, status: { conditions: [] } };
    expect(differingFields(live, entry(SPEC), 10)).toEqual([]);
  });
});
