import { status } from "@grpc/grpc-js";
import { createRequest } from "@isthmus/certificates";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newNames } from "../src/registration/newNames.ts";
import { rawRegister } from "./rawClient.ts";
import { type RealServer, realServer, TOKEN } from "./realRelay.ts";

let server: RealServer;
let certificateRequest: string;
beforeEach(async () => {
  server = await realServer();
  certificateRequest = (await createRequest("any")).request;
});
afterEach(() => server.stop());

test("who has the shared token opens so many names and no more, and a known cluster is not kept out", async () => {
  const where = { address: server.address, root: server.identity.root };
  const register = (name: string) => rawRegister(where, { token: TOKEN, certificateRequest, clusterName: name, clusterUid: `uid-${name}` });
  const codes: (status | undefined)[] = [];
  for (let from = 0; from < 260; from += 20)
    codes.push(
      ...(await Promise.all(Array.from({ length: 20 }, (_, i) => register(`new-${from + i}`)))).map((result) => result.status?.code),
    );
  const refused = codes.filter((code) => code === status.RESOURCE_EXHAUSTED).length;
  expect(refused).toBeGreaterThanOrEqual(8);
  expect(refused).toBeLessThanOrEqual(10);
  expect(server.registrations.known.size).toBe(260 - refused);
  const later = await register("new-later");
  expect(later.status?.details).toMatch(
    /new-later is admitted in \d+ s, or with a join token \("meshctl cluster token create --cluster new-later"\)/,
  );
  // Its agent lost the answer, and asks again with the same key.
  server.registrations.more.set("new-0", { isReplaceable: false, key: server.registrations.more.get("new-0")?.key ?? "" });
  expect((await register("new-0")).status?.code).not.toBe(status.RESOURCE_EXHAUSTED);
});

test("addresses share what all may open, and get more by the minute", () => {
  let ms = 0;
  const names = newNames({ now: () => ms, sleep: async () => undefined });
  const opens = (address: string, times: number) =>
    Array.from({ length: times }, () => names.take(address)).filter((wait) => wait === 0).length;
  expect([opens("a", 300), opens("b", 300), opens("c", 300)]).toEqual([250, 250, 0]);
  expect(names.take("c")).toBe(60_000);
  ms += 120_000;
  expect([opens("c", 5), opens("a", 5)]).toEqual([2, 0]);
});
