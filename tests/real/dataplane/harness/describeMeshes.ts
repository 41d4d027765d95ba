import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Components } from "../../harness/components.ts";
import { findComponents } from "../../harness/components.ts";
import { sharedPath } from "./shared.ts";

/** What a testbed of real meshes is made of. */
export interface MeshParts {
  readonly components: Components;
  /** Folder of the testbed. */
  readonly testbed: string;
}

/**
 * A suite against real meshes. Where they can't be started it is skipped, with the reason in its name; with CI=true it fails.
 */
export function describeMeshes(name: string, body: (parts: MeshParts) => void): void {
  const parts = findParts();
  if (!("missing" in parts)) {
    describe(name, () => body(parts));
  } else if (process.env["CI"] === "true") {
    describe(name, () => {
      it("has what it needs", () => expect.fail(parts.missing));
    });
  } else {
    describe.skip(`${name} (skipped: ${parts.missing})`, () => {
      it("needs real meshes", () => undefined);
    });
  }
}

const PROGRAMS = ["python3", "ip", "nft", "nsenter", "unshare", "setpriv", "openssl", "curl"];

function findParts(): MeshParts | { readonly missing: string } {
  const components = findComponents();
  if ("missing" in components) return components;
  const testbed = sharedPath("testbed");
  if (testbed === undefined) return { missing: "there is no testbed in ISTHMUS_SHARED (default ../shared)" };
  if (process.getuid?.() !== 0) return { missing: "network namespaces need root" };
  const lost = PROGRAMS.filter((program) => !isOnPath(program));
  if (lost.length > 0) return { missing: `${lost.join(", ")} not found: run tests/real/install.sh` };
  return { components, testbed };
}

function isOnPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
