import { noMeter } from "@isthmus/core";
import { virtualClock } from "@isthmus/simulator";
import { expect, test } from "vitest";
import { requestRefusals } from "../src/agent/requestRefusals.ts";
import { recordingLog } from "./recordingLog.ts";

const refOf = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", name, namespace: "shop", clusterName: "a" });

test("refused orders are logged once each, a hundred in a minute, and then how many more there were", async () => {
  const clock = virtualClock();
  const log = recordingLog();
  const refusals = requestRefusals({ clock, log, meter: noMeter });
  const refuse = (name: string) => refusals.add(refOf(name), { reason: "Kind", message: `${name} is refused` });
  for (let i = 0; i < 150; i++) refuse(`one-${i}`);
  refuse("one-0");
  await clock.advance(59_999);
  refuse("two");
  expect(log.warnings).toHaveLength(100);
  expect(log.warnings[99]).toBe("one-99 is refused");
  expect(refusals.all.size).toBe(151);
  await clock.advance(1);
  refuse("three");
  expect(log.warnings.slice(100)).toEqual(["refused 51 more writes requested by the server", "three is refused"]);
  await clock.advance(60_000);
  refuse("four");
  expect(log.warnings.slice(102)).toEqual(["four is refused"]);
  refusals.remove(refOf("four"));
  refuse("four");
  expect(log.warnings).toHaveLength(104);
});
