import { spawn } from "node:child_process";

export interface ShellAnswer {
  readonly code: number;
  /** Standard output and standard error, as a terminal shows them. */
  readonly output: string;
}

/** A shell that is kept from command to command, so that variables and `$?` are as a reader has them. */
export interface Shell {
  run(command: string, timeoutMs: number): Promise<ShellAnswer>;
  stop(): void;
}

const END = "-- end of command --";

const ended = new RegExp(`^([^]*)${END}(\\d+)\\n$`);

export function startShell(cwd: string, env: Readonly<Record<string, string>>): Shell {
  const child = spawn("bash", ["--noprofile", "--norc"], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  let changed = (): void => undefined;
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      changed();
    });
  }
  child.on("exit", () => changed());

  return {
    run(command, timeoutMs) {
      output = "";
      const quoted = `'${command.replaceAll("'", `'\\''`)}'`;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          child.kill("SIGKILL");
          reject(new Error(`no answer within ${timeoutMs / 1000} s: ${command}\n${output}`));
        }, timeoutMs);
        changed = () => {
          const [, text, code] = ended.exec(output) ?? [];
          if (text === undefined && isRunning()) return;
          clearTimeout(timer);
          changed = () => undefined;
          if (text === undefined) reject(new Error(`the shell has ended: ${command}\n${output}`));
          else resolve({ code: Number(code), output: text });
        };
        // The status of the command before is what `$?` says in this one.
        child.stdin.write(`eval ${quoted} 2>&1 </dev/null; status=$?; printf '%s%d\\n' '${END}' $status; (exit $status)\n`);
      });
    },
    stop: () => void child.kill("SIGKILL"),
  };
}
