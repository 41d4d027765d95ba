import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kindOf } from "@isthmus/api";
import type { InvalidResource, Kind, Resource } from "@isthmus/core";
import { runs } from "@isthmus/testing";
import { build } from "esbuild";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

const MOST_NAMED = 20;
const folder = "packages/translators/testdata";
const objects = readdirSync(folder, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith(".in.yaml"))
  .flatMap((name) => parseAllDocuments(readFileSync(join(folder, name), "utf8")).map((document): unknown => document.toJS()))
  .flatMap((value) => {
    const { apiVersion, kind: name } = (value ?? {}) as Partial<Resource>;
    return kindOf(apiVersion ?? "", name ?? "") === undefined ? [] : [value as Resource];
  });

type KindOf = typeof kindOf;
let folderOfBundle = "";
let kindOfBrowser: KindOf;

// As the page has it.
beforeAll(async () => {
  folderOfBundle = mkdtempSync(join(tmpdir(), "isthmus-schemas-"));
  const outfile = join(folderOfBundle, "schemas.mjs");
  const alias = { ajv: join(process.cwd(), "apps/ui/client/translation/schemaValidator.ts") };
  const stdin = { contents: 'export { kindOf } from "@isthmus/api"', resolveDir: process.cwd() };
  await build({ bundle: true, platform: "browser", format: "esm", alias, stdin, outfile, logLevel: "error" });
  kindOfBrowser = ((await import(outfile)) as { readonly kindOf: KindOf }).kindOf;
});
afterAll(() => rmSync(folderOfBundle, { recursive: true }));

/** The mistakes that a kind's schema finds, sorted. */
function mistakes(kind: Kind | undefined, value: unknown): readonly string[] {
  try {
    kind?.parse(value);
    return [];
  } catch (error) {
    return [...(error as InvalidResource).messages].sort();
  }
}

/** Every place in a value. */
function placesIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => placesIn(member, [...path, key]))];
}

function withValue(value: unknown, [key = "", ...deeper]: readonly string[], wrong: unknown): unknown {
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = deeper.length === 0 ? wrong : withValue(copy[key], deeper, wrong);
  return copy;
}

const wrongValues = fc.oneof(
  fc.constantFrom(
    1.5,
    -1,
    1e12,
    0,
    true,
    "",
    "5s",
    "5 s",
    "x".repeat(400),
    "ENABLED",
    "é/~",
    {},
    [],
    [1],
    { a: 1 },
    { kubeService: {}, virtualDestination: {} },
  ),
  fc.array(fc.constant({}), { minLength: 1_030, maxLength: 1_030 }),
);

it("knows places that take several types", () => {
  const service = (targetPort: unknown) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "a", namespace: "b" },
    spec: { ports: [{ port: 80, targetPort }] },
  });
  for (const right of [8080, "http"]) expect(mistakes(kindOfBrowser("v1", "Service"), service(right))).toEqual([]);
  for (const wrong of [1.5, true, {}, [1]]) {
    const expected = mistakes(kindOf("v1", "Service"), service(wrong));
    expect(expected).toHaveLength(1);
    expect(mistakes(kindOfBrowser("v1", "Service"), service(wrong))).toEqual(expected);
  }
});

it("meets mistakes in the order in which the validators which generate code meet them", () => {
  const networking = "networking.mesh.gloo.solo.io/v1";
  const metadata = { name: "a", namespace: "b" };
  for (const object of [
    // With one of a Mesh's two names left out, the other is not validated.
    { apiVersion: "discovery.mesh.gloo.solo.io/v1", kind: "Workload", metadata, spec: { mesh: { namespace: 5, name: 6 } } },
    // With one of two members left out, there is one.
    { apiVersion: networking, kind: "TrafficPolicy", metadata, spec: { httpRequestMatchers: [{ uri: { exact: 5, prefix: "/" } }] } },
  ]) {
    const expected = mistakes(kindOf(object.apiVersion, object.kind), object);
    expect(expected).toHaveLength(1);
    expect(mistakes(kindOfBrowser(object.apiVersion, object.kind), object)).toEqual(expected);
  }
});

it("finds the mistakes that the validators which generate code find", () => {
  const changes = fc.record({ at: fc.nat(), wrong: wrongValues });
  fc.assert(
    fc.property(fc.constantFrom(...objects), fc.array(changes, { maxLength: 3 }), (value, changed) => {
      const places = placesIn(value).filter(([first]) => first !== undefined && first !== "apiVersion" && first !== "kind");
      let given: unknown = value;
      for (const { at, wrong } of changed) {
        const place = places[at % places.length] ?? ["spec"];
        // An earlier change may have taken the place away.
        const isThere = place.slice(0, -1).reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], given);
        if (typeof isThere === "object" && isThere !== null) given = withValue(given, place, wrong);
      }
      const { apiVersion, kind: name } = value;
      const found = mistakes(kindOfBrowser(apiVersion, name), given);
      const expected = mistakes(kindOf(apiVersion, name), given);
      // Of more than are named, others may be named.
      if (expected.length < MOST_NAMED) expect(found).toEqual(expected);
      else expect(found).not.toEqual([]);
    }),
    { numRuns: runs(4_000) },
  );
  expect(objects.length).toBeGreaterThan(500);
});
