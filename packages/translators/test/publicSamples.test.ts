import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ineffectiveFields, kindOf, userStatusKinds } from "@isthmus/api";
import { InvalidResource, type Resource, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { readDocuments, soundTranslation, withoutMaterial } from "@isthmus/testing";
import { describe, expect, test } from "vitest";
import { statusesOf } from "../src/index.ts";

const samples = join(resolve(process.env["ISTHMUS_SHARED"] ?? "../shared"), "examples/v1");
const USER_KINDS = userStatusKinds().map(({ kind }) => kind);

describe(`public samples of the v1 API (${samples})`, () => {
  const files = existsSync(samples)
    ? readdirSync(samples, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".yaml"))
    : [];
  if (files.length === 0) return withoutMaterial(`${samples} has no samples; ISTHMUS_SHARED names the folder that holds examples/v1`);

  test.each(files.sort())("%s is accepted, or answered with a message that names the field", (file) => {
    const resources = readDocuments(readFileSync(join(samples, file), "utf8")).flatMap(parsed);
    const world = soundTranslation(snapshotOf(resources), { namespace: "gloo-mesh", stage: "networking" });
    const statuses = new Map(statusesOf(world).map(({ ref, status }) => [resourceKeyOf(ref), JSON.stringify(status)]));
    for (const resource of resources.filter(({ kind }) => USER_KINDS.includes(kind))) {
      const status = statuses.get(resourceKeyOf(refOf(resource)));
      expect(status).toBeDefined();
      for (const path of ineffectivePaths(resource)) expect(status).toContain(path);
    }
  });
});

function parsed(document: unknown): readonly Resource[] {
  const { apiVersion, kind: name } = document as Resource;
  const kind = kindOf(apiVersion, name);
  if (kind === undefined) return [];
  try {
    return [kind.parse(document)];
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidResource);
    expect((error as InvalidResource).path).not.toBe("");
    return [];
  }
}

function ineffectivePaths(resource: Resource & { readonly spec?: unknown }): readonly string[] {
  const kind = kindOf(resource.apiVersion, resource.kind);
  const definition = kind !== undefined && "definition" in kind ? kind.definition : undefined;
  const { fields } = definition as { fields: { spec: Parameters<typeof ineffectiveFields>[0] } };
  return ineffectiveFields(fields.spec, resource.spec, "spec").map(({ path }) => path);
}
