import { type ExecFileException, execFile } from "node:child_process";
import { join } from "node:path";
import type { AnyResource } from "@isthmus/core";
import { projectRoot } from "./shared.ts";

/** What `meshctl translate --status -o json` gave. */
export interface Translated {
  readonly exitCode: number;
  readonly items: readonly AnyResource[];
  /** Its notes and findings. */
  readonly messages: string;
}

/** Runs the built `meshctl translate` on files and folders. */
export function meshctlTranslate(files: readonly string[], flags: readonly string[] = []): Promise<Translated> {
  const program = join(projectRoot, "apps/meshctl/bin/meshctl.js");
  const args = [program, "translate", "--status", "-o", "json", ...files.flatMap((file) => ["-f", file]), ...flags];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { maxBuffer: 1 << 28 }, (error: ExecFileException | null, out, messages) => {
      const exitCode = error === null ? 0 : Number(error.code);
      // 1: something was rejected, which statuses tell; anything else is no translation.
      if (exitCode !== 0 && exitCode !== 1) return reject(new Error(`meshctl translate: ${messages || String(error)}`));
      resolve({ exitCode, items: (JSON.parse(out) as { readonly items: readonly AnyResource[] }).items, messages });
    });
  });
}
