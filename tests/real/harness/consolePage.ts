import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { type Program, startProgram } from "./childProcess.ts";
import { PAGE_PATIENCE_MS } from "./chromium.ts";
import { freePorts } from "./freePorts.ts";
import { MESHCTL } from "./meshctl.ts";
import { waitFor } from "./waitFor.ts";

/** A page of the console in a browser of its own. */
export interface ConsolePage {
  readonly browser: Browser;
  readonly page: Page;
  /** What the page has reported as wrong since this was asked last: exceptions, errors and warnings. */
  takeProblems(): readonly string[];
}

/** Opens an empty page that is 1280 pixels wide. Scripts that hostile text brings along would set `self.wasHacked`, which is false. */
export async function openConsolePage(executablePath: string): Promise<ConsolePage> {
  // Its sandbox needs rights that containers do not have; what it opens is ours.
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  await context.addInitScript("self.wasHacked = false");
  context.setDefaultTimeout(PAGE_PATIENCE_MS);
  const page = await context.newPage();
  let problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  return {
    browser,
    page,
    takeProblems() {
      const taken = problems;
      problems = [];
      return taken;
    },
  };
}

/** Serves objects from `NAME.json` of a folder, as `meshctl snapshot serve` does. */
export async function serveObjects(
  directory: string,
  items: readonly object[],
  name = "fleet",
): Promise<{ readonly url: string; readonly program: Program }> {
  const file = join(directory, `${name}.json`);
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const args = [MESHCTL, "snapshot", "serve", "--port", String(port), file];
  const program = startProgram({ name, command: process.execPath, args, log: join(directory, `${name}.log`) });
  try {
    await waitFor("the console", async () => (await fetch(url)).ok);
  } catch (error) {
    await program.stop();
    throw error;
  }
  return { url, program };
}
