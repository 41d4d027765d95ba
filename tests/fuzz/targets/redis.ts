import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "@isthmus/plane";
import { redisStore } from "@isthmus/store";
import { freePorts } from "../../real/harness/freePorts.ts";
import { EVIL } from "../drawing/fleetObjects.ts";
import { unframed } from "../drawing/frames.ts";
import { redisCommands } from "../drawing/storeCommands.ts";
import { Skipped, type Target } from "../target.ts";
import { startFollowingServer } from "./followingServer.ts";
import { SILENT } from "./goodInputs.ts";

const PREFIX = "gloo-mesh:";
const READ_EACH = 32;
const TURNS = 4;
const START_TRIES = 100;

/** A real Redis, into which somebody else writes, and a server that shares it. */
export const redis: Target = {
  name: "redis",
  about: "commands of somebody who may write to Redis: notices, heads, objects, records; a server that shares it",
  draw: (random) => redisCommands(random, PREFIX),
  async start() {
    const directory = mkdtempSync(join(tmpdir(), "isthmus-fuzz-redis-"));
    const [port = 0] = await freePorts(1);
    const args = ["--bind", "127.0.0.1", "--port", String(port), "--dir", directory, "--save", "", "--appendonly", "no"];
    if (spawnSync("redis-server", ["--version"]).error !== undefined) throw new Skipped("redis-server is not installed");
    // It ends with the standard input that it has of this process, which the fuzzer may kill.
    const server = spawn("sh", ["-c", 'redis-server "$@" & cat; kill $!; wait', "sh", ...args], { stdio: ["pipe", "ignore", "ignore"] });
    const intruder = await connected(port);
    const options = { log: SILENT, keys: async () => ({ key: Buffer.alloc(32, 1) }) };
    const store = redisStore({ host: "127.0.0.1", port }, options);
    const follower = await startFollowingServer(store);
    let inputs = 0;

    async function read(): Promise<void> {
      const partition = { section: "input", clusterName: EVIL } as const;
      const calls: (() => Promise<unknown>)[] = [
        () => store.overview("input"),
        () => store.head(partition),
        () => store.records("revocations"),
        async () => {
          for await (const page of store.load(partition, "/Service")) void page;
        },
      ];
      for (const call of calls) await call().catch(ignoreStoreError);
      await command(intruder, [Buffer.from("FLUSHALL")]);
    }

    return {
      async take(input) {
        for (const words of unframed(input)) await command(intruder, unframed(words));
        for (let turn = 0; turn < TURNS; turn++) await nextTurn();
        if (++inputs % READ_EACH === 0) await read();
      },
      async stop() {
        await follower.stop();
        await store.close();
        intruder.destroy();
        server.stdin.end();
        await once(server, "close");
        rmSync(directory, { recursive: true });
      },
    };
  },
};

function ignoreStoreError(error: unknown): void {
  if (!(error instanceof StoreError)) throw error;
}

async function connected(port: number): Promise<Socket> {
  for (let tries = 0; ; tries++) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    if (isOpen) return socket;
    if (tries > START_TRIES) throw new Error("Redis does not start");
    await sleep(50);
  }
}

/** Sends one command, and waits until something is answered. Source: Redis serialization protocol specification. */
async function command(socket: Socket, words: readonly Buffer[]): Promise<void> {
  if (words.length === 0) return;
  const parts = words.flatMap((word) => [Buffer.from(`$${word.length}\r\n`), word, Buffer.from("\r\n")]);
  const answered = once(socket, "data");
  socket.write(Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...parts]));
  await answered;
}
