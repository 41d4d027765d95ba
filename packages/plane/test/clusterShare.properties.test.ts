import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shareFleet } from "./shareFleet.ts";

const REPLICAS = 3;

const STEPS = ["hear", "work", "serve", "answer", "askOverview", "compare"] as const;
const AGENT = ["connect", "leave"] as const;
const FAULTS = ["fail", "lose", "miss", "replicasChanged"] as const;
const REGISTRATIONS = ["register", "unregister"] as const;
const WORLD = ["report", "reportPart", "wipe", "failOver", "restore", "distrust", "pass"] as const;

type Op =
  | {
      readonly op: (typeof STEPS)[number] | (typeof AGENT)[number] | (typeof FAULTS)[number] | (typeof REGISTRATIONS)[number];
      readonly at: number;
    }
  | { readonly op: (typeof WORLD)[number] }
  | { readonly op: "change"; readonly name: string }
  /** Everything that waits at one replica. */
  | { readonly op: "busy"; readonly at: number; readonly steps: number };

const at = fc.nat(REPLICAS - 1);
const sharing: fc.Arbitrary<Op> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ op: fc.constantFrom(...STEPS), at }) },
  { weight: 6, arbitrary: fc.record({ op: fc.constant("busy" as const), at, steps: fc.nat(30) }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constantFrom(...AGENT), at }) },
  { weight: 3, arbitrary: fc.constantFrom<Op>({ op: "report" }, { op: "reportPart" }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant("change" as const), name: fc.constantFrom("a", "b", "c") }) },
);
const faulty: fc.Arbitrary<Op> = fc.oneof(
  { weight: 12, arbitrary: sharing },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom(...FAULTS), at }) },
  { weight: 1, arbitrary: fc.constantFrom(...WORLD).map((op): Op => ({ op })) },
);
const registering: fc.Arbitrary<Op> = fc.oneof(
  { weight: 12, arbitrary: faulty },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom(...REGISTRATIONS), at }) },
);

type Fleet = ReturnType<typeof shareFleet>;

function run(fleet: Fleet, op: Op): void {
  const one = "at" in op ? fleet.replicas[op.at] : undefined;
  if (op.op === "change") fleet.change(op.name);
  else if (!("at" in op)) fleet[op.op]();
  else if (one !== undefined && op.op !== "busy") fleet[op.op](one);
  if (op.op !== "busy" || one === undefined) return;
  for (let i = 0; i < op.steps; i++) fleet[STEPS[i % STEPS.length] ?? "work"](one);
}

/** Everything is registered, and the agent is connected to one replica alone. */
function calm(fleet: Fleet, last: number): void {
  for (const one of fleet.replicas) {
    fleet.register(one);
    fleet.leave(one);
  }
  fleet.settle(fleet.replicas[last]);
}

const ops = (op: fc.Arbitrary<Op>) => fc.array(op, { minLength: 10, maxLength: 120, size: "max" });

function check(op: fc.Arbitrary<Op>, times: number): void {
  fc.assert(
    fc.property(ops(op), at, (list, last) => {
      const fleet = shareFleet(REPLICAS);
      for (const one of list) run(fleet, one);
      calm(fleet, last);
      expect(fleet.violations).toEqual([]);
      expect(fleet.stored()).toBe(fleet.truth());
      expect(fleet.known()).toEqual(fleet.replicas.map(() => `synced ${fleet.truth()}`));
      expect(fleet.replicas.map(({ share }) => share.type)).toEqual(fleet.replicas.map((_, i) => (i === last ? "owner" : "follower")));
    }),
    { numRuns: runs(times) },
  );
}

describe("the shares of a cluster", () => {
  test("agree with its agent, whatever moves when", () => check(sharing, 120));
  test("agree with its agent after notices, answers and the store were lost", () => check(faulty, 120));
  test("agree with its agent after registrations came and went", () => check(registering, 80));

  test("leave nothing behind when it is no longer registered", () => {
    fc.assert(
      fc.property(ops(registering), (list) => {
        const fleet = shareFleet(REPLICAS);
        for (const one of list) run(fleet, one);
        for (const one of fleet.replicas) fleet.unregister(one);
        fleet.settle();
        expect(fleet.violations).toEqual([]);
        expect(fleet.store.partition).toBeUndefined();
        expect(fleet.replicas.map(({ share, writer }) => [share.type, writer])).toEqual(fleet.replicas.map(() => ["follower", undefined]));
        expect(fleet.known()).toEqual(fleet.replicas.map(() => "unknown []"));
      }),
      { numRuns: runs(60) },
    );
  });
});
