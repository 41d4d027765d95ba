import { type Resource, refOf } from "@isthmus/core";
import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deployment, KINDS, service, virtualService } from "./sessionFleet.ts";
import { sessionPair } from "./sessionPair.ts";

const CLUSTER = "cluster-1";
const names = fc.constantFrom("a", "b", "c", "d");
const observed = fc.oneof(
  fc.tuple(names, fc.nat(3)).map(([name, port]) => service(CLUSTER, name, { spec: { port } })),
  names.map((name) => deployment(CLUSTER, name)),
);
const wanted = fc
  .uniqueArray(fc.tuple(names, fc.nat(3)), { selector: ([name]) => name })
  .map((list) => list.map(([name, weight]) => virtualService(CLUSTER, name, { spec: { weight } })));

type Op =
  | { readonly op: "put"; readonly resource: Resource }
  | { readonly op: "remove"; readonly resource: Resource }
  | { readonly op: "want"; readonly resources: readonly Resource[] }
  | { readonly op: "traffic"; readonly steps: number }
  | {
      readonly op:
        | "flushAgent"
        | "flushServer"
        | "deliverUp"
        | "deliverDown"
        | "acknowledge"
        | "reconnect"
        | "tick"
        | "repeatUp"
        | "repeatDown"
        | "loseUp"
        | "loseDown";
    };

const MOVES = ["flushAgent", "deliverUp", "flushServer", "deliverDown", "acknowledge"] as const;

const harmless: fc.Arbitrary<Op> = fc.oneof(
  { weight: 4, arbitrary: observed.map((resource): Op => ({ op: "put", resource })) },
  { weight: 2, arbitrary: observed.map((resource): Op => ({ op: "remove", resource })) },
  { weight: 3, arbitrary: wanted.map((resources): Op => ({ op: "want", resources })) },
  { weight: 6, arbitrary: fc.constantFrom(...MOVES).map((op): Op => ({ op })) },
  { weight: 4, arbitrary: fc.nat(40).map((steps): Op => ({ op: "traffic", steps })) },
  { weight: 1, arbitrary: fc.constantFrom("reconnect", "tick").map((op): Op => ({ op })) },
);
// What a stream never does and a mistake of ours might: repeated and lost messages.
const harmful = fc.constantFrom("repeatUp", "repeatDown", "loseUp", "loseDown").map((op): Op => ({ op }));

function run(pair: ReturnType<typeof sessionPair>, op: Op): void {
  switch (op.op) {
    case "put":
      pair.put(op.resource);
      return;
    case "remove":
      pair.remove(refOf(op.resource));
      return;
    case "want":
      pair.want(op.resources);
      return;
    case "traffic":
      for (let i = 0; i < op.steps; i++) pair[MOVES[i % MOVES.length] ?? "flushAgent"]();
      return;
    case "repeatUp":
      pair.up.unshift(...pair.up.slice(0, 1));
      return;
    case "repeatDown":
      pair.down.unshift(...pair.down.slice(0, 1));
      return;
    case "loseUp":
      if (pair.up[0]?.body.case === "up") pair.up.shift();
      return;
    case "loseDown":
      if (pair.down[0]?.body.case === "down") pair.down.shift();
      return;
    default:
      pair[op.op]();
  }
}

function check(pair: ReturnType<typeof sessionPair>): void {
  pair.heal();
  expect(pair.violations).toEqual([]);
  expect(new Map([...pair.known].sort())).toEqual(new Map([...pair.cluster].sort()));
  expect(new Map([...pair.applied].sort())).toEqual(new Map([...pair.wanted].sort()));
}

describe("sessions", () => {
  test("bring everything across, whatever is cut when", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(harmless, { minLength: 10, maxLength: 100, size: "max" }), fc.nat(30), (remembers, ops, when) => {
        const pair = sessionPair(KINDS, remembers);
        ops.forEach((op, i) => {
          if (i === when) pair.synced(KINDS);
          run(pair, op);
        });
        pair.synced(KINDS);
        if (pair.lastWanted === undefined) pair.want([]);
        check(pair);
        // The very objects that are desired now, not only equal ones.
        expect([...(pair.lastWanted?.entries() ?? [])].map(([key, { resource }]) => [key, pair.wanted.get(key) === resource])).toEqual(
          [...pair.wanted.keys()].sort().map((key) => [key, true]),
        );
      }),
      { numRuns: runs(200) },
    );
  });

  test("find out when something was lost or came twice", () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.array(fc.oneof({ weight: 12, arbitrary: harmless }, { weight: 1, arbitrary: harmful }), {
          minLength: 10,
          maxLength: 100,
          size: "max",
        }),
        (remembers, ops) => {
          const pair = sessionPair(KINDS, remembers);
          pair.synced(KINDS);
          pair.want([]);
          for (const op of ops) run(pair, op);
          check(pair);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  test("tell everything again to an agent that missed the first of as many revisions as may be unanswered", () => {
    const pair = sessionPair(KINDS);
    pair.synced(KINDS);
    pair.want([]);
    const losing = () => {
      for (const move of MOVES) {
        const kept = pair.down.filter(({ body }) => body.case !== "down");
        pair.down.splice(0, pair.down.length, ...kept);
        pair[move]();
      }
    };
    for (let i = 0; i < 20; i++) losing();
    for (let weight = 0; weight < 12; weight++) {
      pair.want([virtualService(CLUSTER, "a", { spec: { weight } })]);
      losing();
    }
    check(pair);
  });

  test("send nothing down while a kind is neither known nor known to be unserved", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(harmless, { minLength: 10, maxLength: 60, size: "max" }), (remembers, ops) => {
        const pair = sessionPair([...KINDS, "batch/Job"], remembers);
        pair.synced(KINDS);
        for (const op of ops) run(pair, op);
        pair.heal();
        expect(pair.applied.size).toBe(0);
        pair.synced([], ["batch/Job"]);
        check(pair);
      }),
      { numRuns: runs(100) },
    );
  });
});
