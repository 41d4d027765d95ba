import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { userStatusKinds, VirtualDestination, WasmDeployment } from "@isthmus/api";
import { kindKeyOf, type Resource, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { soundTranslation } from "@isthmus/testing";
import { expect, test } from "vitest";
import { changedStatuses, statusesAfter, statusesOf } from "../src/index.ts";

const OPTIONS = { namespace: "gloo-mesh", stage: "networking" } as const;
// The Settings in use are those of this name.
const least = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }, generation: number): Resource => ({
  apiVersion,
  kind,
  metadata: { name: "settings", namespace: OPTIONS.namespace, generation },
});

test("a status answers each kind by which users ask, and follows what they ask", () => {
  expect(userStatusKinds()).not.toEqual([]);
  for (const kind of userStatusKinds()) {
    const object = kind.parse(least(kind, 1));
    const before = statusesOf(soundTranslation(snapshotOf([object]), OPTIONS));
    // Of a host without a name, and of no filters, there is nothing to accept.
    const state = kind === VirtualDestination || kind === WasmDeployment ? "INVALID" : "ACCEPTED";
    expect(before, kindKeyOf(kind)).toMatchObject([{ ref: refOf(object), status: { observedGeneration: 1, state } }]);

    const first = statusesAfter(soundTranslation(snapshotOf([object]), OPTIONS), undefined);
    const next = statusesAfter(soundTranslation(snapshotOf([kind.parse(least(kind, 2))]), OPTIONS), undefined, first);
    expect(changedStatuses(next, first).map(resourceKeyOf)).toEqual([resourceKeyOf(refOf(object))]);
    expect(next.of(refOf(object))?.status).toMatchObject({ observedGeneration: 2 });
  }
});

test("no list of translation names the kinds by which users ask", () => {
  const root = fileURLToPath(new URL("../src", import.meta.url));
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const names = userStatusKinds().map(({ kind }) => kind);
  const lists = files.flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .filter((line) => !line.startsWith("import ") && line.includes("["))
      .filter((line) => names.filter((name) => line.slice(line.indexOf("[")).includes(name)).length > 1)
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(lists).toEqual([]);
});
