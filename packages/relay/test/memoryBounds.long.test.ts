import { create } from "@bufbuild/protobuf";
import { heldBy, longText, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { AckSchema, AnswerSchema, HelloSchema } from "../src/gen/relay/v1/relay_pb.ts";
import { startThrottle } from "../src/registration/throttle.ts";
import { type AckSize, boundedRejections, problemOfHello } from "../src/session/bounds.ts";
import type { Rejection } from "../src/session/link.ts";
import { withPart } from "../src/session/queries.ts";
import { joinTraceIds, tracesFrom } from "../src/session/traces.ts";

const NAME = "n".repeat(253);

// Each is filled with the longest texts that it takes, beyond its bound. What is allowed is twice what the bound says, and the last texts, which V8 keeps for a while.

test("rejections of an acknowledgement", async () => {
  // 4 MiB of letters, and 10,000 refs of five names and some overhead.
  const bytes = 4 * MEBIBYTE + 10_000 * (5 * 253 + 500);
  const held = await heldBy(() => {
    const all: Rejection[] = [];
    let size: AckSize = { rejections: 0, textLength: 0 };
    for (let part = 0; part < 20; part++) {
      const rejected = Array.from({ length: 600 }, (_, i) => {
        const ref = { apiVersion: NAME, kind: NAME, name: `${part}-${i}`.padEnd(253, "n"), namespace: NAME, clusterName: NAME };
        // Of the first part of each the text is as long as a message.
        return { ref, code: longText(i, i < 2 ? MEBIBYTE : 10), message: longText(i, i < 2 ? MEBIBYTE : 2_000) };
      });
      const taken = boundedRejections(create(AckSchema, { rejected }), size, 0);
      size = taken.size;
      all.push(...taken.taken);
    }
    expect(all).toHaveLength(10_000);
    return all;
  });
  expect(held).toBeLessThan(2 * bytes);
});

test("why an agent gives no answer", async () => {
  const held = await heldBy(() =>
    Array.from({ length: 20 }, (_, i) =>
      withPart({ parts: [], bytes: 0 }, create(AnswerSchema, { part: 1, last: true, error: longText(i) })),
    ),
  );
  expect(held).toBeLessThan(2 * MEBIBYTE);
});

test("what is said of a hello that is refused, and ids of changes", async () => {
  const held = await heldBy(() =>
    Array.from({ length: 20 }, (_, i) => [
      problemOfHello(create(HelloSchema, { instance: longText(i) })),
      joinTraceIds([], tracesFrom([longText(i), ...Array.from({ length: 20 }, () => "a".repeat(32))])),
    ]),
  );
  expect(held).toBeLessThan(2 * MEBIBYTE);
});

test("addresses that have failed to log in", async () => {
  // 10,000 addresses of IPv6.
  const bytes = 10_000 * 300;
  const held = await heldBy(() => {
    const throttle = startThrottle();
    for (let i = 0; i < 30_000; i++) throttle.failed([`address 2001:db8:0000:0000:0000:0000:0000:${i.toString(16)}`], i);
    return throttle;
  });
  expect(held).toBeLessThan(2 * bytes);
});
