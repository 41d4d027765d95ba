import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { DownSchema, NoticeSchema } from "../src/gen/relay/v1/relay_pb.ts";
import { costOfDown, costOfNotice } from "../src/session/intake.ts";

const ref = { apiVersion: "v1", kind: "Service", name: "cart", namespace: "shop", clusterName: "a" };
const body = (bytes: number) => ({ ref, json: new Uint8Array(bytes) });

test("everything that a message holds counts, and each object at least 1 KiB", () => {
  const cost = (parts: Parameters<typeof create<typeof DownSchema>>[1]) => costOfDown(create(DownSchema, parts));
  expect(cost({})).toBe(0);
  expect(cost({ upserts: [body(10), body(10)] })).toBe(2_048);
  expect(cost({ upserts: [body(5_000)] })).toBeGreaterThan(5_000);
  expect(cost({ deletes: [{ ref }] })).toBe(1_024);
  expect(cost({ withheld: [ref, ref] })).toBe(2_048);
  expect(cost({ upserts: [body(10)], deletes: [{ ref }], withheld: [ref] })).toBe(3_072);
  const inputs = cost({ deletes: [{ ref, evidence: { reason: "InputRemoved", inputs: [ref, ref] } }] }) - 1_024;
  expect(inputs).toBeGreaterThan(0);
  expect(cost({ deletes: [{ ref, evidence: { reason: "InputRemoved", inputs: [ref, ref, ref, ref] } }] })).toBe(1_024 + 2 * inputs);
  expect(costOfNotice(create(NoticeSchema, { resources: [body(10)], gone: [ref] }))).toBe(2_048);
});
