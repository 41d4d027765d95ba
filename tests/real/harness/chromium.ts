import { describe, expect, it } from "vitest";
import { findChromium } from "./findChromium.ts";

/** How long pages are waited for, as `expect.poll` waits: half a minute, the default, is too short for a busy machine. No promise of anything. */
export const PAGE_PATIENCE_MS = 60_000;

/** A suite in a real browser. Without one it is skipped, with the reason in its name; with CI=true it fails. */
export function describeInBrowser(name: string, body: (chromium: string) => void): void {
  const path = findChromium();
  if (path !== undefined) {
    describe(name, () => body(path));
  } else if (process.env["CI"] === "true") {
    describe(name, () => {
      it("has a browser", () => expect.fail("Chromium is not installed: run tests/real/install.sh"));
    });
  } else {
    describe.skip(`${name} (skipped: Chromium is not installed: run tests/real/install.sh)`, () => {
      it("needs a browser", () => undefined);
    });
  }
}
