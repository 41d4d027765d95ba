import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { connectPatience } from "../src/transport/clientCalls.ts";
import { realAgent, realServer, until } from "./realRelay.ts";

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A program that listens and then stands still: once its queue is full, the kernel swallows every further attempt to connect. */
async function standingStill(): Promise<{ readonly port: number; readonly program: ChildProcess }> {
  const text =
    'const s = require("node:net").createServer(); s.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => console.log(s.address().port));';
  const program = spawn(process.execPath, ["-e", text], { stdio: ["ignore", "pipe", "inherit"] });
  stops.push(() => void program.kill("SIGKILL"));
  const [said] = (await once(program.stdout, "data")) as [Buffer];
  program.kill("SIGSTOP");
  return { port: Number(said.toString()), program };
}

/** Connects until one is not let in within a second. */
async function fill(port: number): Promise<void> {
  for (let isFull = false; !isFull; ) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    stops.push(() => void socket.destroy());
    isFull = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(false));
      setTimeout(resolve, 1_000, true);
    });
  }
}

test("an agent waits 5 s for an address that swallows what is sent to it, says so, and is connected when the server is there", {
  timeout: 120_000,
}, async () => {
  const { port, program } = await standingStill();
  await fill(port);
  const { identity, grpc, stop } = await realServer({ clientCertificates: false });
  stops.push(stop);
  const started = realAgent({ address: `127.0.0.1:${port}`, root: identity.root, credentials: undefined });
  stops.push(started.stop);
  await until(() => started.states.some((state) => state.includes("no connection within 5 s")), "it gives up");
  program.kill("SIGKILL");
  await once(program, "exit");
  const line = createServer((client) => {
    const upstream = connect(grpc.port, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
    }
  });
  line.listen(port, "127.0.0.1");
  stops.push(() => void line.close());
  await until(() => started.states.at(-1)?.startsWith("connected") === true, "it is connected");
});

test("the same of one that takes connections and says nothing", { timeout: 120_000 }, async () => {
  const taken: Socket[] = [];
  const silent = createServer((socket) => void taken.push(socket)).listen(0, "127.0.0.1");
  await once(silent, "listening");
  stops.push(() => {
    for (const socket of taken) socket.destroy();
    silent.close();
  });
  const { port } = silent.address() as { port: number };
  const { identity, stop } = await realServer();
  stops.push(stop);
  const started = realAgent({ address: `127.0.0.1:${port}`, root: identity.root, credentials: undefined });
  stops.push(started.stop);
  await until(() => started.states.some((state) => state.includes("TLS is not established")), "it gives up");
});

test("each time in vain makes it wait twice as long, up to what the library would, and a connection makes it 5 s again", () => {
  const patience = connectPatience();
  const waits = [1, 2, 3, 4].map(() => {
    const { ms } = patience;
    patience.missed();
    return ms;
  });
  expect(waits).toEqual([5_000, 10_000, 20_000, 20_000]);
  patience.connected();
  expect(patience.ms).toBe(5_000);
});
