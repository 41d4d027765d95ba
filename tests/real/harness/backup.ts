import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { blocksOf } from "../../documents/blocks.ts";
import { makeWorkspace } from "../docs/workspace.ts";
import type { ApiServer } from "./apiServer.ts";
import { anyKind } from "./clusters.ts";
import type { Components } from "./components.ts";

const DOCUMENT = "docs/operations/backup.md";
const COMMAND_MS = 120_000;

/** Where the commands of docs/operations/backup.md are typed: the current context is of this API server. */
interface Desk {
  readonly components: Components;
  readonly server: ApiServer;
  /** Does not exist yet. */
  readonly directory: string;
}

/** A backup, as the files that the document makes. */
export interface Backup {
  readonly folder: string;
  /** All that is in it. */
  readonly objects: readonly AnyResource[];
}

const FILES = ["backup-secrets.json", "backup-resources.json"];

/** Makes a backup of the management cluster with the commands of the document. */
export async function backUp(desk: Desk): Promise<Backup> {
  const folder = await typeBlock(desk, "> secrets.json");
  const lists = FILES.map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as { readonly items: readonly AnyResource[] });
  return { folder, objects: lists.flatMap(({ items }) => items) };
}

/** Restores a backup into a new management cluster with the commands of the document, where its files lie. */
export async function restore(desk: Desk, { folder }: Backup): Promise<void> {
  await typeBlock(desk, "kubectl create --filename", folder);
}

/** Types the one block of the document that runs `command`. Rejects when one of its commands fails. Resolves to the folder in which it was typed. */
async function typeBlock({ components, server, directory }: Desk, command: string, cwd?: string): Promise<string> {
  const text = readFileSync(fileURLToPath(new URL(`../../../${DOCUMENT}`, import.meta.url)), "utf8");
  const [block, ...others] = blocksOf(DOCUMENT, text).filter((one) => one.language === "sh" && one.text.includes(command));
  if (block === undefined || others.length > 0) throw new Error(`${DOCUMENT}: not one block with ${command}`);
  mkdirSync(directory);
  const { folder, env } = makeWorkspace(components, directory, [server]);
  await promisify(execFile)("bash", ["-euc", block.text], { cwd: cwd ?? folder, env, timeout: COMMAND_MS });
  return folder;
}

/** A digest of what each Secret of the management plane in a cluster holds, without the records of Helm. */
export async function secretDigests(cluster: Cluster): Promise<Readonly<Record<string, string>>> {
  const { items } = await cluster.list(anyKind("v1", "Secret", "secrets"), { namespace: "gloo-mesh" });
  const ours = items.filter(({ metadata }) => !metadata.name.startsWith("sh.helm.release."));
  return Object.fromEntries(ours.map(({ metadata, ...secret }) => [metadata.name, digestOf(secret["data"])]));
}

function digestOf(data: unknown): string {
  return createHash("sha256").update(JSON.stringify(data)).digest("hex");
}
