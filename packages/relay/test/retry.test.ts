import { expect, test } from "vitest";
import type { Connector } from "../src/session/connection.ts";
import { RelayError } from "../src/session/relayError.ts";
import { inMemoryNetwork } from "../src/transport/inMemory.ts";
import { KINDS, testAgent, testServer } from "./sessionFleet.ts";
import { virtualClock } from "./virtualClock.ts";

const CLUSTER = "cluster-1";

/** An agent whose connector refuses until `token.isRight`. */
function setUp() {
  const clock = virtualClock();
  const network = inMemoryNetwork({ clock });
  const server = testServer({ clock });
  network.listen(server.link.accept);
  const real = network.connector(CLUSTER);
  const token = { isRight: false, tries: 0, delayMs: 0 };
  const connector: Connector = {
    async connect(handler, progress, signal) {
      token.tries++;
      const wasRight = token.isRight;
      if (token.delayMs > 0) await clock.sleep(token.delayMs, signal);
      if (!wasRight) throw new RelayError("WrongToken", "this is not the token");
      return real.connect(handler, progress, signal);
    },
  };
  const { link } = testAgent({ clock, clusterName: CLUSTER, connector });
  link.synced(KINDS, []);
  return { clock, server, link, token };
}

test("an agent that waits tries at once when it learns that something has changed, and only then", async () => {
  const { clock, server, link, token } = setUp();
  await clock.advance(0);
  expect(token.tries).toBe(1);
  token.isRight = true;
  await clock.advance(0);
  expect(token.tries).toBe(1);
  link.retry();
  await clock.advance(50);
  expect(token.tries).toBe(2);
  expect(server.events).toContain("connected cluster-1");
  link.retry();
  await clock.advance(1_000);
  expect(token.tries).toBe(2);
});

test("what changes during a try that fails has the next one follow at once", async () => {
  const { clock, server, link, token } = setUp();
  token.delayMs = 100;
  await clock.advance(0);
  link.retry();
  await clock.advance(50);
  expect(token.tries).toBe(2);
  token.isRight = true;
  link.retry();
  await clock.advance(300);
  expect(token.tries).toBe(3);
  expect(server.events).toContain("connected cluster-1");
});
