import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { meshctl } from "../src/meshctl.ts";
import { recordedIo } from "./recordedIo.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const pages = [
  "README.md",
  ...readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** Each YAML block, with the line where it begins. */
const examples = pages.flatMap((page) => {
  const text = readFileSync(root + page, "utf8");
  return [...text.matchAll(/^ *```yaml\n(.*?)^ *```$/gms)].map(({ 1: yaml = "", index }) => ({
    place: `${page}:${text.slice(0, index).split("\n").length}`,
    yaml,
    // Those of docs/policies are run with clusters of their own, by policyExamples.long.test.ts.
    isOurs: /^apiVersion: \S*solo\.io\//m.test(yaml) && !page.startsWith("docs/policies/"),
  }));
});

/** The example clusters, under the names that the other documents use. */
const clusters = ["cluster-1.yaml", "cluster-2.yaml"]
  .map((name) => readFileSync(`${root}docs/examples/${name}`, "utf8"))
  .join("\n---\n")
  .replaceAll("cluster-1", "east")
  .replaceAll("cluster-2", "west");

describe("the YAML of documents", () => {
  test.for(examples.map((example) => [example.place, example] as const))("%s can be parsed", ([, { yaml }]) => {
    for (const document of parseAllDocuments(yaml, { uniqueKeys: true })) expect(document.errors).toEqual([]);
  });

  test.for(examples.filter(({ isOurs }) => isOurs).map((example) => [example.place, example] as const))(
    "%s is accepted by meshctl validate",
    async ([, { yaml }]) => {
      const io = recordedIo(`${clusters}\n---\n${yaml}`);
      const code = await meshctl(["validate", "-f", "-"], io);
      expect([code, io.written.err]).toEqual([0, expect.stringMatching(/ 0 errors, /)]);
    },
  );

  test("is there", () => {
    expect(examples.filter(({ isOurs }) => isOurs).length).toBeGreaterThan(3);
  });
});
