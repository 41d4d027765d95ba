import { deflateRawSync } from "node:zlib";
import { create, equals, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { type ConnectRequest, ConnectRequestSchema, ConnectResponseSchema } from "../src/gen/relay/v1/relay_pb.ts";
import { DEFLATE, FEATURES } from "../src/session/wire.ts";
import { agentPacking, serverPacking } from "../src/transport/packing.ts";

const hello = (features: readonly string[]) =>
  create(ConnectRequestSchema, { epoch: 1n, body: { case: "hello", value: { features: [...features] } } });
const welcome = (features: readonly string[]) =>
  create(ConnectResponseSchema, { epoch: 1n, body: { case: "welcome", value: { features: [...features] } } });
const json = (length: number) => new TextEncoder().encode(`{"spec":"${"words ".repeat(length)}"}`);
const up = (length: number): ConnectRequest =>
  create(ConnectRequestSchema, { epoch: 1n, body: { case: "up", value: { seq: 1, kind: "/Pod", upserts: [{ json: json(length) }] } } });

/** Both ends of one stream, after their first messages. */
function ends(features: readonly string[]) {
  const [agent, server] = [agentPacking(), serverPacking()];
  server.unpacked(agent.packed(hello(features)));
  agent.unpacked(server.packed(welcome(features)));
  return { agent, server };
}

describe("messages", () => {
  test.each([60, 10_000])("of %i words travel deflated, and arrive as they were", (length) => {
    const { agent, server } = ends(FEATURES);
    const packed = agent.packed(up(length));
    expect(packed.body.case).toBeUndefined();
    expect(toBinary(ConnectRequestSchema, packed).length).toBeLessThan(toBinary(ConnectRequestSchema, up(length)).length / 2);
    expect(equals(ConnectRequestSchema, server.unpacked(packed), up(length))).toBe(true);
  });

  test("travel as they are when they are small, or when the other end has not said that it understands it", () => {
    expect(ends(FEATURES).agent.packed(up(1)).body.case).toBe("up");
    expect(ends(["traces"]).agent.packed(up(10_000)).body.case).toBe("up");
    expect(agentPacking().packed(up(10_000)).body.case).toBe("up");
    const { server } = ends(["traces"]);
    const down = create(ConnectResponseSchema, { body: { case: "down", value: { upserts: [{ json: json(1_000) }] } } });
    expect(server.packed(down).body.case).toBe("down");
  });

  test.each([
    ["are no deflated data", new Uint8Array([1, 2, 3, 4])],
    ["are cut off", deflateRawSync(toBinary(ConnectRequestSchema, up(1_000))).subarray(0, 20)],
    ["grow beyond what a stream takes", deflateRawSync(Buffer.alloc(3 * 1024 * 1024))],
    ["are no message", deflateRawSync(Buffer.from([0xff, 0xff, 0xff]))],
  ])("that %s are refused", (_, deflated) => {
    const { server } = ends([DEFLATE]);
    expect(() => server.unpacked(create(ConnectRequestSchema, { deflated }))).toThrow(
      expect.objectContaining({ code: "Protocol", message: expect.stringContaining("cannot unpack a message") }),
    );
  });

  test("within a deflated message are not looked for", () => {
    const { server } = ends(FEATURES);
    const inner = create(ConnectRequestSchema, { deflated: deflateRawSync(toBinary(ConnectRequestSchema, up(10))) });
    const outer = create(ConnectRequestSchema, { deflated: deflateRawSync(toBinary(ConnectRequestSchema, inner)) });
    expect(server.unpacked(outer).body.case).toBeUndefined();
  });
});
