import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";

/** Writes a processor profile of what `work` costs this process into the file that BENCH_PROFILE names, if it names one. */
export async function profiled<T>(work: () => Promise<T>): Promise<T> {
  const file = process.env["BENCH_PROFILE"];
  if (file === undefined) return work();
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.start");
  try {
    return await work();
  } finally {
    const { profile } = await session.post("Profiler.stop");
    writeFileSync(file, JSON.stringify(profile));
    session.disconnect();
  }
}
