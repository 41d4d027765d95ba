import type { HttpMatchRequest } from "@isthmus/api";
import { describe, expect, it } from "vitest";
import { implies } from "./impliedMatches.ts";

describe("a match takes no more than a wider one", () => {
  it.each<readonly [HttpMatchRequest, HttpMatchRequest]>([
    [{ uri: { prefix: "/a" } }, {}],
    [{}, { uri: { prefix: "/" } }],
    [{ uri: { prefix: "/a/b" } }, { uri: { prefix: "/a" } }],
    [{ uri: { exact: "/a/b" } }, { uri: { prefix: "/a" } }],
    [{ uri: { exact: "/A/b" } }, { uri: { prefix: "/a" }, ignoreUriCase: true }],
    [{ uri: { regex: ".*x" } }, { uri: { regex: ".*x" } }],
    [{ sourceLabels: { a: "1", b: "2" }, sourceNamespace: "shop" }, { sourceLabels: { a: "1" } }],
    [{ headers: { x: { exact: "1" } } }, { headers: { x: {} } }],
    [{ withoutHeaders: { x: {} } }, { withoutHeaders: { x: { exact: "1" } } }],
    [{ method: { exact: "GET" }, queryParams: { q: { exact: "1" } } }, { method: { exact: "GET" } }],
  ])("%j is in %j, and not the other way round unless they are equal", (narrow, wide) => {
    expect(implies(narrow, wide)).toBe(true);
    const isSame = JSON.stringify(narrow) === JSON.stringify(wide) || wide.uri?.prefix === "/";
    expect(implies(wide, narrow)).toBe(isSame);
  });

  it.each<readonly [HttpMatchRequest, HttpMatchRequest]>([
    [{ uri: { prefix: "/ab" } }, { uri: { exact: "/ab" } }],
    [{ uri: { prefix: "/A" }, ignoreUriCase: true }, { uri: { prefix: "/A" } }],
    [{ uri: { exact: "/a" } }, { uri: { regex: "/a" } }],
    [{ headers: { x: { exact: "1" } } }, { headers: { x: { exact: "2" } } }],
    [{ headers: { constructor: { exact: "1" } } }, { headers: { toString: {} } }],
    [{ withoutHeaders: { x: { exact: "1" } } }, { withoutHeaders: { x: {} } }],
    [{ sourceNamespace: "shop" }, { sourceLabels: { a: "1" } }],
  ])("%j may be outside of %j", (narrow, wide) => {
    expect(implies(narrow, wide)).toBe(false);
  });
});
