import { describe, expect, it } from "vitest";
import { type Components, findComponents } from "./components.ts";

/**
 * A suite against real components. Where they are missing it is skipped, with the reason in its name; with CI=true it fails,
 * as a suite that nobody runs proves nothing.
 */
export function describeReal(name: string, body: (components: Components) => void): void {
  const components = findComponents();
  if (!("missing" in components)) {
    describe(name, () => body(components));
  } else if (process.env["CI"] === "true") {
    describe(name, () => {
      it("has its components", () => expect.fail(components.missing));
    });
  } else {
    describe.skip(`${name} (skipped: ${components.missing})`, () => {
      it("needs its components", () => undefined);
    });
  }
}
