import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { UpSchema } from "../src/gen/relay/v1/relay_pb.ts";
import { ACCEPT_ALL } from "../src/session/reportFilter.ts";
import { startReceiving, takeUp } from "../src/session/serverUp.ts";

const hearing = { clusterName: "a", reportFilter: ACCEPT_ALL };

function up(seq: number, name: string) {
  const ref = { apiVersion: "v1", kind: "Service", name, namespace: "shop", clusterName: "a" };
  const json = new TextEncoder().encode(
    JSON.stringify({ apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop", clusterName: "a" } }),
  );
  return create(UpSchema, { seq, kind: "/Service", upserts: [{ ref, json }] });
}

test("a message is taken once and in its order: after a gap the stream ends, as something in between is lost", () => {
  const first = takeUp(startReceiving(), up(1, "cart"), hearing);
  expect(first.observation?.put.map(({ metadata }) => metadata.name)).toEqual(["cart"]);
  const again = takeUp(first.up, up(1, "cart"), hearing);
  expect(again).toEqual({ up: first.up });
  const late = takeUp(first.up, up(3, "orders"), hearing);
  expect(late).toEqual({ up: first.up, broken: "message 3 arrived after 1" });
  expect(takeUp(first.up, up(2, "orders"), hearing).up.seq).toBe(2);
});
