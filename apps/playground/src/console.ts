import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type ConsoleServer,
  type FleetSource,
  type Recording,
  recordedSource,
  replayedSource,
  serverSource,
  startConsoleHub,
  startConsoleServer,
} from "@isthmus/console";
import { type Clock, UsageError } from "@isthmus/core";
import { type Server, serverRoles, systemClock } from "@isthmus/plane";
import type { Logger } from "pino";
import { version } from "../package.json";
import type { DemoTraffic } from "./traffic/fleet.ts";

// A demo lasts for minutes.
const HISTORY_MS = 5_000;

interface ServedConsole {
  /** Port of the console; another is taken, with a word about it, when it is not free. */
  readonly port: number;
  readonly log: Logger;
  readonly say: (line: string) => void;
  /** How often browsers hear the time, in ms. Default: as from the console's program. */
  readonly clockMs?: number;
}

export interface DemoConsoleOptions extends ServedConsole {
  readonly server: Server;
  readonly traffic: Pick<DemoTraffic, "activity">;
  readonly namespace: string;
  /** Takes the lines of a recording. Default: nothing is recorded. */
  readonly record?: ((line: string) => void) | undefined;
}

/** A console that runs until the signal is aborted. */
export interface DemoConsole {
  readonly port: number;
  readonly ended: Promise<void>;
}

/** Serves the console of the demo's server on loopback. */
export async function startDemoConsole(options: DemoConsoleOptions, signal: AbortSignal): Promise<DemoConsole> {
  const { server, traffic, namespace, record } = options;
  const clock = systemClock;
  const discoveryKinds = serverRoles(namespace).kinds.discovery;
  const source = serverSource({ server, discoveryKinds, activity: traffic.activity, namespace, name: "npm run demo", version, clock });
  return serve({ ...options, source: record === undefined ? source : recordedSource(source, record, clock.now), clock }, signal);
}

/** The same of a recording, at the pace of then. It stands still at its end. */
export function startReplay(
  options: ServedConsole & { readonly recording: Recording; readonly name: string },
  signal: AbortSignal,
): Promise<DemoConsole> {
  return serve({ ...options, ...replayedSource(options.recording, { name: options.name, clock: systemClock }) }, signal);
}

async function serve(
  options: ServedConsole & { readonly source: FleetSource; readonly clock: Clock },
  signal: AbortSignal,
): Promise<DemoConsole> {
  const { source, clock, log, clockMs } = options;
  const epoch = randomUUID().replaceAll("-", "");
  const hub = startConsoleHub({ historyMs: HISTORY_MS, source, epoch, clock, log, ...(clockMs === undefined ? {} : { clockMs }) }, signal);
  const served = await listen({ ...options, hub });
  const closed = new Promise<void>((resolve, reject) => {
    const close = () => void served.close().then(resolve, reject);
    if (signal.aborted) close();
    else signal.addEventListener("abort", close, { once: true });
  });
  return { port: served.port, ended: Promise.all([hub.ended, closed]).then(() => undefined) };
}

async function listen({
  hub,
  port,
  log,
  say,
}: ServedConsole & { readonly hub: ReturnType<typeof startConsoleHub> }): Promise<ConsoleServer> {
  // Beside this program's own: the pages are those of the console's program.
  const pages = fileURLToPath(new URL("../../ui/dist/client/", import.meta.url));
  const options = { host: "127.0.0.1", hub, log, ...(existsSync(pages) ? { files: pages } : {}) };
  try {
    return await startConsoleServer({ ...options, port });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const served = await startConsoleServer({ ...options, port: 0 });
    say(`Port ${port} is already in use: serving the console on port ${served.port} instead.`);
    return served;
  }
}
