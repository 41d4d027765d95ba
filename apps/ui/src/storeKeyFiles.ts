import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { storeKeysIn } from "@isthmus/plane";

/** The keys in a directory as which the store's Secret is mounted. Rejects where it has no `key`, or one that is none. */
export async function storeKeyFiles(directory: string): Promise<ReturnType<typeof storeKeysIn>> {
  const key = await readFile(join(directory, "key"), "utf8");
  const previous = await readFile(join(directory, "previous"), "utf8").catch((error: NodeJS.ErrnoException) => {
    // Without a rotation there is none.
    if (error.code === "ENOENT") return "";
    throw error;
  });
  return storeKeysIn({ key, previous }, directory);
}
