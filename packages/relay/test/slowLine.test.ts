import { connect, createServer, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { realAgent, realServer, until } from "./realRelay.ts";
import { KINDS, service } from "./world.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

test("a server takes 10 MB over a line of 50 ms in less time than a small window would need", async () => {
  const { identity, grpc, synced, stop } = await realServer();
  stops.push(stop);
  const slow = await delayingProxy(grpc.port, 25);
  const started = realAgent({ address: `127.0.0.1:${slow.port}`, root: identity.root });
  stops.push(started.stop);
  await until(() => started.states.at(-1)?.startsWith("connected") === true, "the agent is connected");
  const resources = Array.from({ length: 1000 }, (_, i) => service("cluster-1", `service-${i}`, { spec: { text: `${i} `.repeat(2500) } }));
  const begin = slow.roundTrips();
  started.link.observe({ put: resources, remove: [] });
  started.link.synced(KINDS, []);
  await until(() => synced.has("cluster-1"), "the cluster is synced", 15_000);
  // With HTTP/2's own window of 64 KB each round trip moves 64 KB at most: 10 MB take 160 of them.
  expect(slow.roundTrips() - begin).toBeLessThan(80);
});

/** A proxy that holds each piece back for a while, each way. */
async function delayingProxy(port: number, delayMs: number): Promise<{ readonly port: number; roundTrips(): number }> {
  const began = Date.now();
  const proxy: Server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    client.on("data", (data) => setTimeout(() => upstream.write(data), delayMs));
    upstream.on("data", (data) => setTimeout(() => client.write(data), delayMs));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on("close", () => setTimeout(() => to.destroy(), delayMs));
      from.on("error", () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  stops.push(() => new Promise((resolve) => proxy.close(() => resolve())));
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return { port: address.port, roundTrips: () => (Date.now() - began) / (2 * delayMs) };
}
