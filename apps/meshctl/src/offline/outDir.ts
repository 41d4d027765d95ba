import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isClusterName, messageOf, UsageError } from "@isthmus/core";
import { inOneCluster, type Printable, printed } from "./print.ts";
import type { TranslateCommandOptions } from "./translateOptions.ts";

/**
 * Writes what each cluster gets to a file of its own, `FOLDER/CLUSTER.yaml` (or `.json`), and what the management cluster gets to
 * `FOLDER/management.yaml`, as `kubectl` and `istioctl` take it. Other files of the folder stay. Throws UsageError for what can't be
 * written, before anything is.
 */
export function writeClusterFiles(folder: string, objects: readonly Printable[], format: TranslateCommandOptions["output"]): void {
  const byFile = new Map<string, Printable[]>();
  for (const object of objects) {
    const { clusterName = "", name } = object.metadata;
    // The name comes from the input: it must not lead out of the folder.
    if (clusterName !== "" && !isClusterName(clusterName))
      throw new UsageError(
        `--out-dir: ${object.kind} ${name}: ${JSON.stringify(clusterName)} is not a valid cluster name, so no file can be named after it`,
      );
    if (clusterName === MANAGEMENT)
      throw new UsageError(`--out-dir: a cluster named ${MANAGEMENT} would use the same file as the management cluster: use --cluster`);
    const file = clusterName === "" ? MANAGEMENT : clusterName;
    const list = byFile.get(file);
    if (list === undefined) byFile.set(file, [object]);
    else list.push(object);
  }
  try {
    mkdirSync(folder, { recursive: true });
    for (const [file, list] of byFile) {
      writeFileSync(join(folder, `${file}.${format}`), [...printed(list.map(inOneCluster), format)].join(""));
    }
  } catch (error) {
    throw new UsageError(`--out-dir ${folder}: ${messageOf(error)}`);
  }
}

const MANAGEMENT = "management";
