import { describe, expect, it } from "vitest";
import { MOST_YAML_BYTES, openApiDocument, SchemaProblem } from "../src/agent/schemas/openApiDocument.ts";

const info = { title: "Reviews", version: "1" };
const good = { openapi: "3.0.3", info, paths: { "/reviews": {} } };

function reasonOf(text: string): string {
  try {
    openApiDocument(text);
  } catch (error) {
    if (error instanceof SchemaProblem) return `${error.reason}: ${error.message}`;
    throw error;
  }
  return "taken";
}

describe("openApiDocument", () => {
  it("takes JSON and YAML of versions 2.0 and 3, and gives JSON", () => {
    expect(JSON.parse(openApiDocument(JSON.stringify(good, null, 2)))).toEqual(good);
    expect(openApiDocument("swagger: '2.0'\ninfo: {title: Reviews}\npaths:\n  /a: &a {get: {}}\n  /b: *a\n")).toBe(
      '{"swagger":"2.0","info":{"title":"Reviews"},"paths":{"/a":{"get":{}},"/b":{"get":{}}}}',
    );
    expect(openApiDocument(JSON.stringify({ openapi: "3.1.0", info, webhooks: {} }))).toContain("webhooks");
  });

  it.each([
    ["", "it is no object"],
    ["[]", "it is no object"],
    ["<html>", "it is no object"],
    ["{", "it is no JSON"],
    ['{"error":"none"}', "neither openapi"],
    [JSON.stringify({ ...good, openapi: "4.0" }), "neither openapi"],
    [JSON.stringify({ ...good, info: 1 }), "no info"],
    [JSON.stringify({ openapi: "3.0.0", info }), "no paths"],
    ["a: 'b", "neither JSON nor YAML"],
    ["a: 1\n---\nb: 2\n", "neither JSON nor YAML"],
  ])("refuses %j", (text, why) => {
    expect(reasonOf(text)).toMatch(/^NotOpenApi: .*Serve an OpenAPI document/);
    expect(reasonOf(text)).toContain(why);
  });

  it("refuses what is too deep, too large, or refers to itself", () => {
    expect(reasonOf(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`)).toMatch(/^TooLarge: .*nested deeper/);
    expect(reasonOf(JSON.stringify({ ...good, paths: { x: "y".repeat(2 ** 20) } }))).toMatch(/^TooLarge: .*1024 KiB/);
    expect(reasonOf(`openapi: 3.0.0\nx: ${"y".repeat(MOST_YAML_BYTES)}\n`)).toMatch(/^TooLarge: .*serve it as JSON/);
    expect(reasonOf("openapi: '3.0.0'\ninfo: &a\n  again: *a\npaths: {}\n")).toMatch(/^(TooLarge|NotOpenApi): /);
    const lines = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(", ")}]`);
    expect(reasonOf(["a0: &a0 [x, x]", ...lines].join("\n"))).toMatch(/^(TooLarge|NotOpenApi): /);
  });

  it("quotes nothing of what it was given", () => {
    expect(reasonOf("a: [secret-of-somebody\n")).not.toContain("secret");
    expect(reasonOf('{"secret-of-somebody"')).not.toContain("secret");
  });
});
