import { execFileSync } from "node:child_process";

let known: string | undefined;

/** The Python of the machine itself: `python3` on the path may be a script that looks for it, which takes seven times as long as its start. */
export function python(): string {
  known ??= execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
  return known;
}
