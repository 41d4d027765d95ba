import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/**
 * Ports of the loopback that are free now; all different. Each process has a range of its own, so that no two give the same, and gives all others of it
 * before it gives one again: who asked for it may not have taken it yet. They are below those that Linux gives to outgoing connections: one of those could be
 * taken before it is used. Throws when every range is another process's.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  claimed ??= claimRange();
  const first = await claimed;
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries++) {
    if (tries === 2 * PORTS) throw new Error(`no ${count} ports are free from ${first} on`);
    const port = first + next;
    next = (next % (PORTS - 1)) + 1;
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

/** Listens on the first port of a range as long as this process lives: then nobody else has the range. */
async function claimRange(): Promise<number> {
  const start = randomInt(RANGES);
  for (let i = 0; i < RANGES; i++) {
    const first = LOWEST + ((start + i) % RANGES) * PORTS;
    const server = await listenOn(first);
    // It keeps no process alive.
    if (server !== undefined) {
      server.unref();
      return first;
    }
  }
  throw new Error(`each range of ports from ${LOWEST} on belongs to another process`);
}

async function isFree(port: number): Promise<boolean> {
  const server = await listenOn(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** Undefined: somebody else listens there. */
async function listenOn(port: number): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy()).listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return undefined;
    throw error;
  }
}

// Source: ip(7), ip_local_port_range, whose default begins at 32768.
const [LOWEST, HIGHEST] = [16_000, 32_000];
const PORTS = 200;
const RANGES = (HIGHEST - LOWEST) / PORTS;
let claimed: Promise<number> | undefined;
/** The next one of the range. The first is the one that is listened on. */
let next = 1;
