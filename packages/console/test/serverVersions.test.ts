import { expect, it } from "vitest";
import { serverVersions } from "../src/sources/serverVersions.ts";

it("counts replicas by version, those that say none last, and says nothing where none runs", () => {
  const of = (...versions: readonly (string | undefined)[]) =>
    serverVersions(versions.map((version, i) => ({ instance: `server-${i}`, version })));
  expect(of()).toEqual({});
  expect(of(undefined)).toEqual({ servers: [{ replicas: 1 }] });
  expect(of("1.5.0", undefined, "1.4.0", "1.5.0")).toEqual({
    servers: [{ version: "1.4.0", replicas: 1 }, { version: "1.5.0", replicas: 2 }, { replicas: 1 }],
  });
});
