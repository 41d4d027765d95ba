import { interruptsOf } from "./cluster/interruption.ts";
import { callOf } from "./commands/calledAs.ts";
import { adjustableIo } from "./commands/loudness.ts";
import { processIo } from "./io.ts";
import { meshctl } from "./meshctl.ts";

const io = adjustableIo(processIo());
const catchInterrupts = interruptsOf(process, (line) => {
  io.progress("");
  io.err(`${line}\n`);
});
process.exitCode = await meshctl(process.argv.slice(2), io, {
  catchInterrupts,
  call: callOf(process.argv[1]),
  leave: () => process.exit(0),
});
