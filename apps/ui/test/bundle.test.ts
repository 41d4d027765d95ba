import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleClient } from "../../../tools/build.mjs";

let folder = "";
let first: readonly string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-client-"));
  ({ first } = await bundleClient(join(process.cwd(), "apps/ui"), folder));
});
afterAll(() => rmSync(folder, { recursive: true }));

it("loads less than 400 kB for the first page", () => {
  const bytes = first.map((name) => gzipSync(readFileSync(join(folder, name))).length).reduce((sum, length) => sum + length, 0);
  expect(first.length).toBeGreaterThan(2);
  expect(bytes).toBeLessThan(400_000);
});

it("loads the graph's libraries only with the graph", () => {
  const later = readdirSync(join(folder, "assets")).filter((name) => !first.includes(`assets/${name}`));
  const text = (name: string) => readFileSync(join(folder, "assets", name), "utf8");
  expect(later.some((name) => name.endsWith(".js") && text(name).includes("react-flow__"))).toBe(true);
  expect(first.some((name) => name.endsWith(".js") && readFileSync(join(folder, name), "utf8").includes("react-flow__"))).toBe(false);
});

it("loads the translators only with the pages that translate, without generated code, which the page's policy forbids", () => {
  const names = readdirSync(join(folder, "assets")).filter((name) => name.endsWith(".js") && !name.startsWith("elk-worker"));
  const holding = (text: string) => names.filter((name) => readFileSync(join(folder, "assets", name), "utf8").includes(text));
  const translators = holding("TrafficShiftTargetUnknown");
  expect(translators.length).toBe(1);
  expect(first.filter((name) => translators.includes(name.slice("assets/".length)))).toEqual([]);
  expect(holding("new Function(")).toEqual([]);
  expect(holding('"node:')).toEqual([]);
});

it("asks nobody else for anything, and holds neither source maps nor paths of this machine", () => {
  const names = readdirSync(folder, { recursive: true }).map(String);
  expect(names.filter((name) => name.endsWith(".map"))).toEqual([]);
  const html = readFileSync(join(folder, "index.html"), "utf8");
  expect(
    [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = ""]) => url).every((url) => url.startsWith("/") || url === "data:,"),
  ).toBe(true);
  expect(html).not.toMatch(/<script(?![^>]*src=)|\son\w+=|<style/);
  for (const name of names.filter((one) => /\.(js|css)$/.test(one))) {
    const text = readFileSync(join(folder, name), "utf8");
    expect(text).not.toContain(process.cwd());
    expect(text).not.toContain("sourceMappingURL");
    expect(text).not.toMatch(/url\(["']?https?:/);
  }
});

it("names files by their content", () => {
  const names = readdirSync(join(folder, "assets"));
  expect(names.filter((name) => !/-[A-Z0-9]{8}\.(js|css)$/.test(name))).toEqual([]);
});
