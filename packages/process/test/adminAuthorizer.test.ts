import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { adminAuthorizer } from "../src/adminAuthorizer.ts";

const never = new AbortController().signal;

function from(remoteAddress: string): IncomingMessage {
  return { socket: { remoteAddress }, headers: { authorization: "Bearer x", host: "agent:9091" } } as unknown as IncomingMessage;
}

it("asks about the tokens of others while one address tries many", async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const admit = adminAuthorizer(async () => {
    await held;
    return { allowed: true };
  }, false);
  const many = Array.from({ length: 10 }, () => admit(from("203.0.113.1"), "/snapshots", never));
  const other = admit(from("203.0.113.2"), "/snapshots", never);
  release();
  const verdicts = await Promise.all(many);
  expect(verdicts.filter((verdict) => "admitted" in verdict)).toHaveLength(2);
  expect(verdicts.filter((verdict) => "refused" in verdict && verdict.refused === 429)).toHaveLength(8);
  expect(await other).toEqual({ admitted: true });
  // The places are free again.
  expect(await admit(from("203.0.113.1"), "/snapshots", never)).toEqual({ admitted: true });
});
