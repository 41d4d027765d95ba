import { spawn } from "node:child_process";
import { join } from "node:path";
import { type Remote, remote } from "./rpc.ts";

/** Another process with simulated clusters and agents, so that this one can be measured alone. */
export interface FleetBeside extends Remote {
  close(): Promise<void>;
}

export function startFleetBeside({ heapMiB = 4096 }: { readonly heapMiB?: number } = {}): FleetBeside {
  const entry = join("tests", "bench", "plane", "fleetProcess.ts");
  const child = spawn(process.execPath, [`--max-old-space-size=${heapMiB}`, join("tools", "run.mjs"), entry], {
    // Standard output belongs to the figures.
    stdio: ["ignore", 2, "inherit", "ipc"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  child.on("exit", (code) => {
    if (code !== 0) throw new Error(`the process with the clusters ended with exit code ${code}`);
  });
  return {
    ...remote(child),
    async close() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
