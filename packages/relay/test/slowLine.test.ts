import { randomBytes } from "node:crypto";
import { connect, createServer, type Server } from "node:net";
import { afterEach, test } from "vitest";
import { realAgent, realServer, until } from "./realRelay.ts";
import { KINDS, service } from "./sessionFleet.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

// With HTTP/2's own window of 64 KB no more than that would ever be on its way: each round trip would move 64 KB.
const ON_THEIR_WAY = 2 * 1024 * 1024;

test("an agent sends 2 MB before the first acknowledgement: a long line costs few round trips", async () => {
  const { identity, grpc, synced, stop } = await realServer();
  stops.push(stop);
  const line = await longLine(grpc.port);
  const started = realAgent({ address: `127.0.0.1:${line.port}`, root: identity.root });
  stops.push(started.stop);
  await until(() => started.states.at(-1)?.startsWith("connected") === true, "the agent is connected");
  line.hold();
  // Random, as messages are compressed.
  const text = () => randomBytes(7_500).toString("base64");
  const resources = Array.from({ length: 600 }, (_, i) => service("cluster-1", `service-${i}`, { spec: { text: text() } }));
  started.link.observe({ put: resources, remove: [] });
  started.link.synced(KINDS, []);
  await until(() => line.heldBytes() > ON_THEIR_WAY, "so much is on its way");
  line.release();
  await until(() => synced.has("cluster-1"), "the cluster is synced");
});

interface LongLine {
  readonly port: number;
  /** From now on nothing reaches the server, and so nothing is acknowledged. */
  hold(): void;
  heldBytes(): number;
  release(): void;
}

/** A proxy that can keep what the client sends on its way. */
async function longLine(port: number): Promise<LongLine> {
  let isHolding = false;
  const held: (() => void)[] = [];
  let bytes = 0;
  const proxy: Server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    client.on("data", (data) => {
      if (!isHolding) return void upstream.write(data);
      bytes += data.length;
      held.push(() => upstream.write(data));
    });
    upstream.on("data", (data) => client.write(data));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on("close", () => to.destroy());
      from.on("error", () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  stops.push(() => new Promise((resolve) => proxy.close(() => resolve())));
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    port: address.port,
    hold() {
      isHolding = true;
    },
    heldBytes: () => bytes,
    release() {
      isHolding = false;
      for (const send of held.splice(0)) send();
    },
  };
}
