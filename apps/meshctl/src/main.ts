import { interruptsOf } from "./cluster/interruption.ts";
import { callOf } from "./commands/commandLine/calledAs.ts";
import { adjustableIo } from "./commands/commandLine/loudness.ts";
import { processIo } from "./io.ts";
import { meshctl } from "./meshctl.ts";

const io = adjustableIo(processIo());
const catchInterrupts = interruptsOf(process, (line) => {
  io.progress("");
  io.err(`${line}\n`);
});
const code = await meshctl(process.argv.slice(2), io, {
  catchInterrupts,
  call: callOf(process.argv[1]),
  leave: () => process.exit(0),
});
// A call that was given up would keep the process until the API server answers.
if (code === 130) process.exit(code);
process.exitCode = code;
