import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { agentKinds, contributedKinds, keptFor } from "@isthmus/api";
import { formatRef, kindKeyOf, type Resource, refOf, snapshotOf } from "@isthmus/core";
import { readInput, soundTranslation, watchedSnapshot } from "@isthmus/testing";
import { expect, test } from "vitest";

// Between them they have an object of each kind that translation reads.
const FOLDERS = [
  "globalAccess",
  "authorizationPolicies",
  "cilium",
  "discovery",
  "osm",
  "userObjects",
  "routes",
  "virtualDestinations",
  "serviceDependencies",
  "accessLogRecords",
  "wasmDeployments",
];
const SENT = [...agentKinds(), ...contributedKinds()];

/** One of each kind that nobody is said to read: with these in view, somebody who does is noticed. */
const kept = SENT.filter((kind) => keptFor(kind) !== undefined).map(({ apiVersion, kind, namespaced }): Resource => {
  const metadata = { name: "kept", ...(namespaced ? { namespace: "default" } : {}), clusterName: "kept" };
  return { apiVersion, kind, metadata };
});

test("each kind that agents send is read by translation, or says for whom it is kept", () => {
  const read = new Set<string>();
  for (const file of FOLDERS.flatMap(inputsOf)) {
    const resources = [...readInput(readFileSync(file, "utf8")).resources, ...kept];
    const { snapshot, readRefs } = watchedSnapshot(snapshotOf(resources));
    soundTranslation(snapshot, { namespace: "gloo-mesh", stage: "all" });
    const refs = readRefs();
    for (const resource of resources) if (refs.has(formatRef(refOf(resource)))) read.add(kindKeyOf(resource));
  }
  const unread = SENT.filter((kind) => !read.has(kindKeyOf(kind)));
  expect(unread.map(kindKeyOf)).toEqual(kept.map(kindKeyOf));
});

function inputsOf(folder: string): readonly string[] {
  const root = fileURLToPath(new URL(`../testdata/${folder}`, import.meta.url));
  const files = readdirSync(root, { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".in.yaml")).map((file) => join(root, file));
}
