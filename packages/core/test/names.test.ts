import { createHash } from "node:crypto";
import { anyText } from "@isthmus/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { discoveredName, isClusterName, matchesSelector, md5Hex, sanitizedName } from "../src/index.ts";

describe("names", () => {
  it("md5Hex agrees with the platform's MD5", () => {
    fc.assert(
      fc.property(anyText(300), (text) => {
        expect(md5Hex(text)).toBe(createHash("md5").update(text, "utf8").digest("hex"));
      }),
    );
  });

  it("makes DNS-safe names as the published product does", () => {
    expect(sanitizedName("my/name.with:all*of them[x]'\"")).toBe("my-name-with-all-of-themx");
    expect(discoveredName({ name: "reviews", namespace: "bookinfo", clusterName: "cluster-1" })).toBe("reviews-bookinfo-cluster-1");
  });

  it("shortens long names to 63 characters that still differ", () => {
    const long = sanitizedName(`${"a".repeat(60)}-one`);
    expect(long).toHaveLength(63);
    expect(long.startsWith(`${"a".repeat(31)}-`)).toBe(true);
    expect(long).not.toBe(sanitizedName(`${"a".repeat(60)}-two`));
  });

  it("knows which names can be a cluster's", () => {
    expect(["a", "cluster-1", "0"].every(isClusterName)).toBe(true);
    expect(["", "a.b", "A", "-a", "a-", "a_b", "x".repeat(64)].some(isClusterName)).toBe(false);
  });

  it("matches label selectors as Kubernetes does", () => {
    const labels = { app: "shop", tier: "front" };
    expect(matchesSelector({}, labels)).toBe(true);
    expect(matchesSelector({ matchLabels: { app: "shop" } }, labels)).toBe(true);
    expect(matchesSelector({ matchExpressions: [{ key: "tier", operator: "NotIn", values: ["front"] }] }, labels)).toBe(false);
    expect(matchesSelector({ matchExpressions: [{ key: "zone", operator: "NotIn", values: ["a"] }] }, labels)).toBe(true);
    expect(matchesSelector({ matchExpressions: [{ key: "zone", operator: "Exists" }] }, labels)).toBe(false);
    expect(matchesSelector({ matchExpressions: [{ key: "zone", operator: "DoesNotExist" }] }, labels)).toBe(true);
  });
});
