import { get, type IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { startAdmin } from "../src/admin.ts";
import { type Authorize, adminAuthorizer } from "../src/adminAuthorizer.ts";

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

it("asks about few wrong tokens of one address a second, and about every right one of another", async () => {
  let guesses = 0;
  const authorize: Authorize = async ({ token }) => {
    if (token === "right") return { allowed: true };
    guesses++;
    return { allowed: false, isKnown: false, reason: "no" };
  };
  const metrics = { contentType: "text/plain", text: async () => "" };
  const admin = await startAdmin({
    host: "127.0.0.1",
    port: 0,
    isReady: () => true,
    metrics,
    pages: { "/snapshots": () => ["{}"] },
    authorize,
  });
  const ask = (token: string, localAddress: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": "203.0.113.1" };
      const to = { host: "127.0.0.1", port: admin.port, localAddress, path: "/snapshots", agent: false, headers };
      get(to, (response) => response.resume().on("end", () => resolve(response.statusCode ?? 0))).on("error", reject);
    });
  try {
    const done = new AbortController();
    const seen = new Set<number>();
    const attack = Array.from({ length: 50 }, async () => {
      while (!done.signal.aborted) seen.add(await ask("wrong", "127.0.0.2"));
    });
    const begun = performance.now();
    const statuses: number[] = [];
    for (let i = 0; i < 40; i++) statuses.push(await ask("right", "127.0.0.1"));
    const seconds = (performance.now() - begun) / 1_000;
    done.abort();
    await Promise.all(attack);
    expect(statuses).toEqual(Array(40).fill(200));
    expect([...seen].sort()).toEqual([401, 429]);
    expect(guesses).toBeLessThanOrEqual(60 + 2 * seconds + 5);
  } finally {
    await admin.close();
  }
});
