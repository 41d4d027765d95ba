import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "./freePorts.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const READY_MS = 60_000;

/** `npm run demo`, with its console. */
export interface LiveDemo {
  /** Address of the console. */
  readonly url: string;
  /** Presses one of its keys. */
  press(key: string): void;
  stop(): Promise<void>;
}

/** Starts the demo on free ports; resolves when both clusters are federated. */
export async function startLiveDemo(): Promise<LiveDemo> {
  const [port = 0, uiPort = 0] = await freePorts(2);
  const args = [join(root, "apps/playground/bin/demo.js"), "--port", String(port), "--ui-port", String(uiPort)];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  process.once("exit", () => child.kill("SIGKILL"));
  await ready(child);
  return {
    url: `http://127.0.0.1:${uiPort}`,
    press: (key) => void child.stdin?.write(key),
    async stop() {
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    const timer = setTimeout(() => reject(new Error(`the demo is not ready: ${output}`)), READY_MS);
    child.stdout?.on("data", (data: Buffer) => {
      output += data.toString();
      if (!output.includes("Ready after")) return;
      clearTimeout(timer);
      resolve();
    });
    child.once("exit", (code) => reject(new Error(`the demo has ended with ${code}: ${output}`)));
  });
}
