import { allKinds, Secret } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { simulatedCluster } from "@isthmus/simulator";
import { expect, it } from "vitest";
import { STORE_KEY_SECRET, storeKeys } from "../src/server/standardMode/storeKey.ts";
import { clock } from "./virtualTime.ts";

const namespace = "gloo-mesh";
const ref = { name: STORE_KEY_SECRET, namespace };

function management(data?: Readonly<Record<string, string>>) {
  const cluster = simulatedCluster({ name: "", clock, kinds: allKinds() });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
  const encoded = Object.fromEntries(Object.entries(data ?? {}).map(([key, text]) => [key, btoa(text)]));
  if (data !== undefined) cluster.load([{ apiVersion: "v1", kind: "Secret", metadata: ref, data: encoded } as Secret]);
  return cluster;
}

let made = 0;
const random = () => new Uint8Array(32).fill(++made);
const base64 = (byte: number) => btoa(String.fromCharCode(...new Uint8Array(32).fill(byte)));

it("the key of the store is made once, whichever of several servers is first, and never written again", async () => {
  const cluster = management();
  const all = await Promise.all(Array.from({ length: 8 }, () => storeKeys({ cluster, namespace, random })));
  expect(new Set(all.map(({ key }) => key.join())).size).toBe(1);
  const version = (await cluster.get(Secret, ref))?.metadata.resourceVersion;
  expect(await storeKeys({ cluster, namespace, random })).toEqual(all[0]);
  expect((await cluster.get(Secret, ref))?.metadata.resourceVersion).toBe(version);
});

it("a second key is accepted beside the first", async () => {
  const cluster = management({ key: `${base64(1)}\n`, previous: base64(2).replaceAll("=", "") });
  expect(await storeKeys({ cluster, namespace, random })).toEqual({
    key: new Uint8Array(32).fill(1),
    previous: new Uint8Array(32).fill(2),
  });
});

it("a Secret without a good key is refused with what is wrong, and stays as it is", async () => {
  for (const [data, problem] of [
    [{ token: "x" }, /gloo-mesh\/relay-store-key-secret: key is missing.*openssl/],
    [{ key: "short" }, /key has fewer than 32 bytes/],
    [{ key: "not base64 at all, and long enough to be thought so" }, /key is not base64/],
    [{ key: base64(1), previous: "short" }, /previous has fewer than 32 bytes/],
  ] as const) {
    const cluster = management(data);
    const error: unknown = await storeKeys({ cluster, namespace, random }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toMatch(problem);
    expect(Object.keys((await cluster.get(Secret, ref))?.data ?? {})).toEqual(Object.keys(data));
  }
});
