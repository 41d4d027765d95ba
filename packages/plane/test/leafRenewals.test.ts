import { uptimeOf } from "@isthmus/core";
import { expect, test } from "vitest";
import { leafRenewals } from "../src/agent/trust/leafRenewals.ts";
import type { RestartablePod } from "../src/agent/trust/podRestarts.ts";
import { clock } from "./virtualTime.ts";

const DAY_MS = 86_400_000;

/** Pods whose certificates end at some moment of the virtual clock. */
function pods() {
  const ends = new Map<string, number>();
  const renew = (name: string) => ends.set(`address of ${name}`, uptimeOf(clock) + DAY_MS);
  const pod = (name: string): RestartablePod => {
    renew(name);
    return { namespace: "n", name, uid: name, createdAt: 0, isReady: true, isTerminating: false, address: `address of ${name}` };
  };
  /** By how much the clocks of pods have been set back. */
  const setBack = { ms: 0 };
  const leafValidity = async (address: string) => {
    const end = ends.get(address);
    if (end === undefined) throw new Error("no answer");
    return { secondsLeft: (end + setBack.ms - uptimeOf(clock)) / 1_000, endsAt: end };
  };
  const renewals = leafRenewals({ leafValidity, clock }, new AbortController().signal);
  return { pod, renew, ends, setBack, renewals };
}

const SINCE = 1_000;

test("a proxy that renews its certificate after the writing is as young as what is installed, and no other", async () => {
  const { pod, renew, renewals } = pods();
  const all = [pod("a"), pod("b")];
  expect(await renewals.next("s", all, SINCE)).toBe("wait");
  await clock.advance(16_000);
  expect(await renewals.next("s", all, SINCE)).toBe("write");
  renewals.written("s");
  await clock.advance(1_000);
  expect(await renewals.next("s", all, SINCE)).toBe("wait");
  expect(renewals.applied(all).map(({ createdAt }) => createdAt)).toEqual([0, 0]);
  renew("a");
  expect(await renewals.next("s", all, SINCE)).toBe("wait");
  expect(renewals.applied(all).map(({ createdAt }) => createdAt)).toEqual([SINCE, 0]);
  await clock.advance(300_000);
  expect(await renewals.next("s", all, SINCE)).toBe("restart");
  renew("b");
  await renewals.next("s", all, SINCE);
  expect(renewals.applied(all).map(({ createdAt }) => createdAt)).toEqual([SINCE, SINCE]);
});

test("what was renewed before the control plane had read the next step says nothing of it", async () => {
  const { pod, renew, renewals } = pods();
  const all = [pod("a")];
  await renewals.next("s", all, SINCE);
  await clock.advance(20_000);
  renew("a");
  // The first look at the next step.
  expect(await renewals.next("s", all, 2 * SINCE)).toBe("wait");
  expect(renewals.applied(all)[0]?.createdAt).toBe(0);
  await clock.advance(16_000);
  expect(await renewals.next("s", all, 2 * SINCE)).toBe("write");
});

test("a proxy that answers late has the roots written again, a few times at most, and one that never does restarts", async () => {
  const { pod, renew, ends, renewals } = pods();
  const all = [pod("a"), pod("late"), pod("silent")];
  for (const name of ["late", "silent"]) ends.delete(`address of ${name}`);
  await renewals.next("s", all, SINCE);
  await clock.advance(16_000);
  expect(await renewals.next("s", all, SINCE)).toBe("write");
  renewals.written("s");
  renew("late");
  expect(await renewals.next("s", all, SINCE)).toBe("wait");
  await clock.advance(16_000);
  expect(await renewals.next("s", all, SINCE)).toBe("write");
  renewals.written("s");
  await clock.advance(1_000);
  for (const name of ["a", "late"]) renew(name);
  await renewals.next("s", all, SINCE);
  expect(renewals.applied(all).map(({ createdAt }) => createdAt)).toEqual([SINCE, SINCE, 0]);
  await clock.advance(300_000);
  expect(await renewals.next("s", all, SINCE)).toBe("restart");
});

test("a certificate that ends a little later by how it was read is not another one", async () => {
  const { pod, ends, renewals } = pods();
  const all = [pod("a")];
  await renewals.next("s", all, SINCE);
  ends.set("address of a", (ends.get("address of a") ?? 0) + 4_000);
  await clock.advance(16_000);
  await renewals.next("s", all, SINCE);
  expect(renewals.applied(all)[0]?.createdAt).toBe(0);
});

test("a clock that is set back makes no certificate another one", async () => {
  const { pod, renew, setBack, renewals } = pods();
  const all = [pod("a")];
  await renewals.next("s", all, SINCE);
  await clock.advance(16_000);
  setBack.ms = 60_000;
  await renewals.next("s", all, SINCE);
  expect(renewals.applied(all)[0]?.createdAt).toBe(0);
  renew("a");
  await renewals.next("s", all, SINCE);
  expect(renewals.applied(all)[0]?.createdAt).toBe(SINCE);
});
