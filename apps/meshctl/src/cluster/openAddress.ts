import { spawn } from "node:child_process";
import { UsageError } from "@isthmus/core";

/** Opens an address in the user's browser, without a shell and without waiting for it. Rejects with UsageError where nothing opens addresses. */
export async function openAddress(address: string): Promise<void> {
  const command = process.platform === "darwin" ? "open" : "xdg-open";
  // A browser that it starts outlives this command.
  const child = spawn(command, [address], { stdio: "ignore", detached: true });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", () => reject(new UsageError(`${command} cannot be run: open the address yourself`)));
  });
  child.unref();
}
