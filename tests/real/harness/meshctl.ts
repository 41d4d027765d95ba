import { execFile } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApiServer } from "./apiServer.ts";
import type { Components } from "./components.ts";

/** The program that is tested. */
export const MESHCTL = fileURLToPath(new URL("../../../apps/meshctl/bin/meshctl.js", import.meta.url));

/** What a command printed, and how it ended. */
export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs meshctl as a person types it: errors and all. `path`: where programs are found, by default as on the machine. */
export function runMeshctl(args: readonly string[], columns = 120, path = process.env["PATH"] ?? ""): Promise<Answer> {
  const env = { PATH: path, COLUMNS: String(columns) };
  return new Promise((resolve) => {
    execFile(process.execPath, [MESHCTL, ...args], { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

/** Where programs are found on a machine that has Helm. The link to it is made in `directory`. */
export function pathWithHelm({ helm }: Components, directory: string): string {
  const folder = join(directory, "bin");
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "helm"))) symlinkSync(helm, join(folder, "helm"));
  return `${folder}:${process.env["PATH"] ?? ""}`;
}

/** What of a text differs from run to run. */
export interface Varying {
  readonly servers: readonly ApiServer[];
  readonly directory: string;
  /** Others by what stands in their place. */
  readonly addresses?: Readonly<Record<string, string>>;
}

/** A text as it is in every run, for golden files. */
export function steadyText(text: string, { servers, directory, addresses = {} }: Varying): string {
  const named = Object.entries({ ...Object.fromEntries(servers.map(({ name, url }) => [url, `https://${name}.example`])), ...addresses });
  return named
    .reduce((told, [address, name]) => told.replaceAll(address, name), text)
    .replaceAll(directory, "DIR")
    .replace(/ +\d+\.\d s(?= {2})/g, (time) => "N.N s".padStart(time.length))
    .replace(/relay-join-token-[a-z0-9]{12}/g, "relay-join-token-xxxxxxxxxxxx")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-01-01T00:00:00.000Z")
    .replace(/of \d+ objects/g, "of NN objects")
    .replace(/server is 7\d{3} s/g, "server is 7200 s")
    .replace(/\[::1\]:\d+/g, "[2001:db8::1]:9900")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "00000000-0000-4000-8000-000000000000");
}
