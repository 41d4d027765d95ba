import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

interface LockedPackage {
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** What the bundle may hold: the development dependencies of the console, types apart, and what they depend on. */
function bundled(): ReadonlyMap<string, LockedPackage> {
  const { packages } = JSON.parse(read("package-lock.json")) as { readonly packages: Readonly<Record<string, LockedPackage>> };
  const { devDependencies } = JSON.parse(read("apps/ui/package.json")) as { readonly devDependencies: Readonly<Record<string, string>> };
  const found = new Map<string, LockedPackage>();
  const queue = Object.keys(devDependencies);
  for (const name of queue) {
    const one = packages[`node_modules/${name}`];
    if (one === undefined || found.has(name) || name.startsWith("@types/")) continue;
    found.set(name, one);
    queue.push(...Object.keys(one.dependencies ?? {}));
  }
  return found;
}

it("names each package in the bundle of the console whose licence is not permissive", () => {
  const notice = read("NOTICE").replaceAll(/\s+/g, " ");
  const permissive = /^(MIT|ISC|0BSD|Unlicense|Apache-2\.0|BSD-[23]-Clause|\(MIT OR CC0-1\.0\))$/;
  const others = [...bundled()].filter(([, { license = "" }]) => !permissive.test(license));
  expect(others.map(([name]) => name)).toEqual(["elkjs"]);
  for (const [name, { license }] of others) expect(notice).toContain(`${name} (${license}`);
});
