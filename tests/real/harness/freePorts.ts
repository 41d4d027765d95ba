import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Ports of the loopback that are free now; all different, and none that was given before: who asked for it may not have taken it yet. They are below those that Linux gives to
 * outgoing connections: one of those could be taken before it is used. Suites that run beside one another have ranges of their own.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    if (given.size === LAST - FIRST) given.clear();
    const port = randomInt(FIRST, LAST);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
    throw error;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}

// Source: ip(7), ip_local_port_range, whose default begins at 32768.
const [LOWEST, HIGHEST] = [16_000, 32_000];
const RANGES = 4;
const range = Number(process.env["VITEST_POOL_ID"] ?? 0) % RANGES;
const FIRST = LOWEST + (range * (HIGHEST - LOWEST)) / RANGES;
const LAST = FIRST + (HIGHEST - LOWEST) / RANGES;
const given = new Set<number>();
