import type { Tampering } from "./fleet.ts";
import { seedOfRun } from "./random.ts";
import { drawSchedule, runSchedule, type Schedule } from "./schedule.ts";
import { shrunk } from "./shrink.ts";
import { formatStep, parseStep } from "./step.ts";
import { tamperings } from "./tamperings.ts";

const args = new Map<string, string>();
for (let i = 2; i < process.argv.length; i += 2) args.set((process.argv[i] ?? "").replace(/^--/, ""), process.argv[i + 1] ?? "");
const runs = Number(args.get("runs") ?? 200);
const seed = Number(args.get("seed") ?? 1);
const length = Number(args.get("length") ?? 14);

let bad = 0;
let done = 0;
const began = process.cpuUsage();
const t0 = performance.now();
for (let run = 0; run < runs; run++) {
  let schedule: Schedule = drawSchedule(seedOfRun(seed, run), length);
  if (args.has("steps"))
    schedule = { ...schedule, clusters: Number(args.get("clusters") ?? 2), steps: (args.get("steps") ?? "").split(";").map(parseStep) };
  if (process.env.P) console.error("run", schedule.seed);
  const tampering = (tamperings as Record<string, Tampering>)[args.get("tamper") ?? ""] ?? {};
  const violations = await runSchedule(
    schedule,
    args.has("tamper") ? { tampering } : args.has("trace") && !args.has("shrink") ? { trace: (line) => console.log(line) } : {},
  );
  done++;
  if (done % 250 === 0)
    console.error(
      done,
      Math.round((performance.now() - t0) / done),
      "ms wall",
      Math.round(process.cpuUsage(began).user / 1000 / done),
      "ms cpu",
    );
  if (violations.length > 0) {
    bad++;
    if (args.has("shrink")) {
      schedule = await shrunk(schedule, violations[0]?.rule ?? "", { tampering });
      if (args.has("trace")) await runSchedule(schedule, { tampering, trace: (line) => console.log(line) });
    }
    console.log(
      `seed ${schedule.seed} clusters ${schedule.clusters}: ${violations.map(({ rule, message }) => `${rule}: ${message.slice(0, 600)}`).join("\n  ")}`,
    );
    if (args.has("shrink")) console.log(`--clusters ${schedule.clusters} --steps "${schedule.steps.map(formatStep).join(";")}"`);
    if (bad >= Number(args.get("max") ?? 5)) break;
  }
}
const used = process.cpuUsage(began);
console.log(
  `${done} schedules, ${bad} violations; ${((used.user + used.system) / 1000 / done).toFixed(1)} ms cpu, ${((performance.now() - t0) / done).toFixed(1)} ms wall each`,
);
process.exit(bad > 0 ? 1 : 0);
