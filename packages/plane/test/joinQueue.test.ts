import { type Delta, emptySnapshot, type Resource, type Snapshot, snapshotOf } from "@isthmus/core";
import { expect, test } from "vitest";
import { joinQueue, type QueuedChange } from "../src/snapshots/joinQueue.ts";

function delta(clusterName: string, name: string, count = 1): Delta {
  const put = Array.from({ length: count }, (_, i): Resource => {
    return { apiVersion: "v1", kind: "Service", metadata: { name: `${name}-${i}`, namespace: "shop", clusterName } };
  });
  return { put, remove: [] };
}

const edit = (name: string) => [delta("", name), { clusterName: "" }] as const;
const join = (clusterName: string, count: number) => {
  const all = delta(clusterName, "all", count);
  return [all, { clusterName, whole: snapshotOf(all.put) }] as const;
};

function namesOf(arrivals: readonly QueuedChange[]): readonly string[] {
  return arrivals
    .flatMap((arrival) => ("put" in arrival ? [arrival.put] : arrival.wholes.map(objectsOf)))
    .map(([first]) => `${first?.metadata.name}@${first?.metadata.clusterName}`);
}

function objectsOf(whole: Snapshot): readonly Resource[] {
  return [...whole.collections().values()].flatMap((collection) => [...collection]);
}

test("what users change comes ahead of clusters that join", () => {
  const { take, next } = joinQueue();
  take(...join("a", 10));
  take(...edit("policy"));
  expect(next(false, 0)).toMatchObject({ joined: [], arrivals: [{ put: [{ metadata: { name: "policy-0" } }] }] });
  expect(next(false, 0).joined).toEqual(["a"]);
});

test("who edits without end does not keep clusters out", () => {
  const { take, next } = joinQueue();
  for (const name of ["a", "b", "c"]) take(...join(name, 10_000));
  const joined: string[][] = [];
  for (let turn = 0; turn < 6; turn++) {
    take(...edit(`policy-${turn}`));
    const admitted = next(false, 0);
    expect(namesOf(admitted.arrivals)).toContain(`policy-${turn}-0@`);
    joined.push([...admitted.joined]);
  }
  expect(joined).toEqual([[], ["a"], [], ["b"], [], ["c"]]);
});

test("small clusters join together, large ones one at a time, in the order in which they came", () => {
  const { take, next } = joinQueue();
  for (const name of ["a", "b", "c"]) take(...join(name, 20));
  for (const name of ["d", "e"]) take(...join(name, 20_000));
  expect(next(false, 0).joined).toEqual(["a", "b", "c", "d"]);
  expect(next(false, 0).joined).toEqual(["e"]);
});

test("of many clusters that wait, a turn takes a share of what is known", () => {
  const { take, next, waits } = joinQueue();
  const names = Array.from({ length: 40 }, (_, i) => `c${i}`);
  for (const name of names) take(...join(name, 10_000));
  const joined: number[] = [];
  while (waits("c39")) {
    const count = next(false, 10_000 * joined.reduce((sum, one) => sum + one, 0)).joined.length;
    joined.push(count);
  }
  // While few are known one at a time: who joins first is not to wait for all.
  expect(joined.slice(0, 5)).toEqual([1, 1, 1, 1, 1]);
  expect(joined.length).toBeLessThan(16);
  let known = 0;
  for (const [turn, count] of joined.entries()) {
    expect(count, `turn ${turn}`).toBeLessThanOrEqual(Math.max(1, Math.ceil(known / 4)));
    known += count;
  }
});

test("what a cluster says while it waits stays behind what it said before", () => {
  const { take, next, waits } = joinQueue();
  take(...join("a", 10_000));
  take(...join("b", 1));
  take(delta("b", "later"), { clusterName: "b" });
  take(delta("c", "known"), { clusterName: "c" });
  expect(namesOf(next(false, 0).arrivals)).toEqual(["known-0@c"]);
  expect(next(false, 0).joined).toEqual(["a"]);
  expect(waits("b")).toBe(true);
  const admitted = next(false, 0);
  expect(namesOf(admitted.arrivals)).toEqual(["all-0@b", "later-0@b"]);
  expect(waits("b")).toBe(false);
});

test("a first translation lacks nothing that is known", () => {
  const { take, next } = joinQueue();
  for (const name of ["a", "b"]) take(...join(name, 20_000));
  take(...edit("policy"));
  const admitted = next(true, 0);
  expect(admitted.joined).toEqual(["a", "b"]);
  expect(namesOf(admitted.arrivals)).toEqual(["policy-0@", "all-0@a", "all-0@b"]);
});

test("clusters that join come together, and what they said since comes after all of them", () => {
  const { take, next } = joinQueue();
  take(...join("a", 1));
  take(delta("a", "later"), { clusterName: "a" });
  take(...join("b", 1));
  const { arrivals } = next(true, 0);
  expect(namesOf(arrivals)).toEqual(["all-0@a", "all-0@b", "later-0@a"]);
  expect(arrivals).toHaveLength(2);
});

test("a cluster without any object joins as well", () => {
  const { take, next, waits } = joinQueue();
  take({ put: [], remove: [] }, { clusterName: "a", whole: emptySnapshot() });
  expect(waits("a")).toBe(true);
  expect(next(false, 0).joined).toEqual(["a"]);
});
