import { afterAll } from "vitest";
import { abandonLeases } from "./apiServerPool/lease.ts";
import { endPrograms } from "./childProcess.ts";

// Before each file, as files share processes: what a suite that failed did not end would disturb the next one in this process, and hold API servers for ever.
afterAll(async () => {
  await endPrograms();
  abandonLeases();
});
