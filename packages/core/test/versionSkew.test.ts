import { expect, it } from "vitest";
import { minorSkew, skewOf } from "../src/index.ts";

it("counts minor versions, and supports agents that are up to two older or one newer", () => {
  const of = (agent: string, server: string) => [minorSkew(agent, server), skewOf(agent, server)];
  expect(of("1.4.0", "1.4.7")).toEqual([0, "supported"]);
  expect(of("v1.2.9", "1.4.0")).toEqual([-2, "supported"]);
  expect(of("1.1.9", "1.4.0")).toEqual([-3, "unsupported"]);
  expect(of("1.5.0-beta.1", "1.4.0")).toEqual([1, "supported"]);
  expect(of("1.6.0", "1.4.0")).toEqual([2, "unsupported"]);
  expect(of("2.4.0", "1.4.0")).toEqual([undefined, "unsupported"]);
  for (const unknown of ["", "dev", "1", "1.x", "x.1"]) expect(of(unknown, "1.4.0")).toEqual([undefined, "unknown"]);
});
