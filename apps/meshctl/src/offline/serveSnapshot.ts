import { existsSync, statSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { discoveryKinds } from "@isthmus/api";
import { fileSource, startConsoleHub, startConsoleServer } from "@isthmus/console/file";
import { type Log, UsageError } from "@isthmus/core";
import { systemClock } from "@isthmus/plane/clock";
import type { Io } from "../io.ts";
import { plainText } from "../output/plainText.ts";
import { checkFiles, counted } from "./check.ts";

export interface ServeSnapshotOptions {
  /** Saved from the page /snapshots/input of a server. */
  readonly file: string;
  readonly namespace: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly version: string;
}

/** Serves the console of a saved fleet on loopback until the signal is aborted. Throws UsageError for a file that can't be read, or a port that is taken. */
export async function serveSnapshot(options: ServeSnapshotOptions, io: Io, signal: AbortSignal): Promise<void> {
  const { file, namespace, port, version } = options;
  if (!existsSync(file)) throw new UsageError(`${plainText(file)} does not exist`);
  const input = { file: [file], stage: "all", ages: "FIRST_SEEN", namespace } as const;
  const { translation, count, rejected } = await checkFiles(input, io);
  if (rejected.length > 0) io.err(`${io.colors.yellow("warning:")} ${counted(rejected.length, "object")} cannot be used\n`);
  const name = plainText(basename(file));
  const savedAt = statSync(file).mtimeMs;
  const source = fileSource({ translation, discoveryKinds: discoveryKinds(), namespace, name, version, savedAt });
  const stop = new AbortController();
  const hub = startConsoleHub({ source, epoch: `file${Math.round(savedAt)}`, clock: systemClock, log: SILENT }, stop.signal);
  try {
    // In its package; and where this program lies in the project's tree.
    const pages = ["./console/", "../../ui/dist/client/"].map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync);
    const served = await startConsoleServer({
      host: "127.0.0.1",
      port,
      hub,
      log: SILENT,
      ...(pages === undefined ? {} : { files: pages }),
    });
    await io.out(`http://127.0.0.1:${served.port}/\n`);
    io.note(`${counted(count, "object")} of ${name}, as of ${new Date(savedAt).toISOString()}; Ctrl-C ends\n`);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    await served.close();
  } finally {
    stop.abort(new Error("the console has ended"));
    await hub.ended;
  }
}

const nothing = () => undefined;
// What is wrong with the file has been said.
const SILENT: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
