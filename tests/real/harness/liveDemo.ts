import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "./freePorts.ts";
import { waitFor } from "./waitFor.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
// No promise of anything, but when to give up on a busy machine, before the hook that starts it does.
const READY_MS = 240_000;
/** The keys that remove what others make, and what that is. */
const MADE = [
  ["u", "reviews-shift"],
  ["d", "reviews-timeout"],
  ["v", "ratings-canary"],
] as const;

/** `npm run demo`, with its console. */
export interface LiveDemo {
  /** Address of the console. */
  readonly url: string;
  /** Presses one of its keys. */
  press(key: string): void;
  /** Removes what its keys have made and starts an agent that they have stopped, whatever a test has left; nothing once it is stopped. */
  restore(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the demo on free ports, in a folder where it leaves its kubeconfig; resolves when both clusters are federated. */
export async function startLiveDemo(folder = root): Promise<LiveDemo> {
  const [port = 0, uiPort = 0, adminPort = 0] = await freePorts(3);
  const ports = ["--port", String(port), "--ui-port", String(uiPort), "--admin-port", String(adminPort)];
  const args = [join(root, "apps/playground/bin/demo.js"), ...ports];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  process.once("exit", () => child.kill("SIGKILL"));
  try {
    await ready(child);
  } catch (error) {
    // Nobody else can stop it.
    child.kill("SIGKILL");
    throw error;
  }
  let said = "";
  child.stdout?.on("data", (data: Buffer) => {
    said += data.toString();
  });
  const press = (key: string): void => void child.stdin?.write(key);
  /** How often the demo has said what a key does when it had nothing to do, or had done it. */
  const count = (pattern: RegExp): number => [...said.matchAll(pattern)].length;

  async function pressAndWait(key: string, answer: RegExp): Promise<void> {
    const before = count(answer);
    press(key);
    await waitFor(`the demo to have done what ${key} asks for`, () => count(answer) > before, { timeoutMs: READY_MS, everyMs: 20 });
  }

  return {
    url: `http://127.0.0.1:${uiPort}`,
    press,
    async restore() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      // It takes one key after the other, so those that the test has pressed are done, too.
      for (const [key, name] of MADE)
        await pressAndWait(key, new RegExp(`TrafficPolicy bookinfo/${name} (is deleted:|does not exist)`, "g"));
      const [last] = [...said.matchAll(/The agent of cluster-2 is (stopped|started)/g)].slice(-1);
      if (last?.[1] === "stopped") await pressAndWait("a", /The agent of cluster-2 is started/g);
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
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
