import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";

/** How many test files run at once in each lane. */
export interface Lanes {
  /** Those that mostly wait, for a heartbeat or a Lease. */
  readonly waiting: number;
  /** Those with real meshes. */
  readonly meshes: number;
}

const GIB = 1024 ** 3;
/** What a lane takes at most, as measured: a mesh of two or three clusters with their proxies, and a suite with its servers, agents and API servers. */
const MESHES_GIB = 4;
const WAITING_GIB = 1.5;
/** For the programs that compute beside them. */
const OTHERS_GIB = 4;

/**
 * As many as memory and processors allow. More of them end no sooner: API servers, control planes and proxies take processor time for as long as they run, so
 * what waits for a processor makes all of it dearer. With two processors, two and three at once took 3,300 s of processor time, where a suite with meshes
 * alone took a quarter of what it took among them.
 */
export function lanesOf(
  { processors, freeBytes }: { readonly processors: number; readonly freeBytes: number } = {
    processors: availableParallelism(),
    freeBytes: freeMemory(),
  },
): Lanes {
  const free = freeBytes / GIB - OTHERS_GIB;
  const meshes = Math.max(1, Math.min(Math.floor(processors / 2), Math.floor(free / 2 / MESHES_GIB)));
  const waiting = Math.max(1, Math.min(processors, Math.floor((free - meshes * MESHES_GIB) / WAITING_GIB)));
  return { waiting, meshes };
}

/** What programs could have without others being put out; all of it where the machine does not say. */
function freeMemory(): number {
  try {
    const [, kibibytes] = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8")) ?? [];
    return kibibytes === undefined ? totalmem() : Number(kibibytes) * 1024;
  } catch {
    return totalmem();
  }
}
