import { expect, test } from "vitest";
import { runSchedule, type Schedule } from "./schedule.ts";
import { parseStep } from "./step.ts";

// Agents and servers that take part while CAs come to be due, and in the end.
const STEPS = "passTime - 1 0;stopAgent b 0 0;passTime - 2 0;restartServer - 0 0;waitForPods - 0 0;passTime - 0 0";
const schedule = (steps: string): Schedule => ({ seed: 1, clusters: 2, trust: "shared", steps: steps.split(";").map(parseStep) });

test("CAs of meshes are renewed before they end, whatever happens meanwhile", { timeout: 1_200_000 }, async () => {
  expect(await runSchedule(schedule(STEPS))).toEqual([]);
});

test("one that has ended while the root was changed is renewed all the same", { timeout: 1_200_000 }, async () => {
  const steps = "passTime - 2 0;putTrust - 2 1;passTime - 2 0";
  expect(await runSchedule({ ...schedule(steps), seed: 387276918, hasStore: true })).toEqual([]);
});

test("that nobody renews them is noticed", { timeout: 1_200_000 }, async () => {
  // Processes for which no day ever passes.
  const asleep = {
    clock: ({ now, uptime, sleep }: Parameters<NonNullable<Tampered>>[0]) => {
      const [began, up] = [now(), uptime?.() ?? 0];
      return { now: () => began + (uptime?.() ?? 0) - up, uptime: uptime ?? now, sleep };
    },
  };
  const [violation] = await runSchedule(schedule("passTime - 2 0"), { tampering: asleep });
  expect(violation?.message).toMatch(/the CA of the mesh of a was not renewed/);
});

type Tampered = NonNullable<NonNullable<Parameters<typeof runSchedule>[1]>["tampering"]>["clock"];
