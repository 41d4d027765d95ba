import { getEventListeners } from "node:events";
import { virtualClock } from "@isthmus/simulator";
import { afterEach, describe, expect, it } from "vitest";
import { type DesiredModule, type KeptLimits, type ModuleKeeper, moduleKeeper } from "../src/wasm/moduleKeeper.ts";
import { ModuleUnavailable } from "../src/wasm/moduleRequest.ts";

const clock = virtualClock();
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
let stopped = new AbortController();

afterEach(() => {
  stopped.abort(new Error("the test is over"));
  stopped = new AbortController();
});

/** A keeper, and how often it has said that something is different. */
function keeper(limits?: KeptLimits): ModuleKeeper & { readonly changes: () => number } {
  let changes = 0;
  const changed = () => {
    changes += 1;
  };
  const parts = { changed, clock, random: () => 0.5, log: silent, ...(limits === undefined ? {} : { limits }) };
  return { ...moduleKeeper(parts, stopped.signal), changes: () => changes };
}

const bytes = (...of: number[]) => new Uint8Array(of);

/** A module that is there after so many failures; counts how often it was asked for. */
function module(source: string, content: Uint8Array, failures = 0, namespace = "one"): DesiredModule & { asked: number } {
  const desired = {
    source,
    namespaces: new Set([namespace]),
    asked: 0,
    async fetch() {
      desired.asked += 1;
      if (desired.asked <= failures) throw new ModuleUnavailable(`${source}: is away`);
      return Promise.resolve(content);
    },
  };
  return desired;
}

describe("the modules of an agent", () => {
  it("are fetched once, and again only when another source is meant", async () => {
    const one = keeper();
    const first = module("a", bytes(1));
    one.desire(new Map([["x", first]]));
    await clock.advance(1);
    expect(one.kept("x")).toEqual({ bytes: bytes(1) });
    one.desire(new Map([["x", module("a", bytes(9))]]));
    await clock.advance(600_000);
    expect([first.asked, one.changes()]).toEqual([1, 1]);
    one.desire(new Map([["x", module("b", bytes(2))]]));
    await clock.advance(1);
    expect(one.kept("x")).toEqual({ bytes: bytes(2) });
    one.desire(new Map());
    expect(one.kept("x")).toEqual({});
  });

  it("are asked for again after an error, less and less often, while the one before stays", async () => {
    const one = keeper();
    one.desire(new Map([["x", module("a", bytes(1))]]));
    await clock.advance(1);
    const away = module("b", bytes(2), 20);
    one.desire(new Map([["x", away]]));
    await clock.advance(1);
    expect(one.kept("x")).toEqual({ bytes: bytes(1), problem: "b: is away" });
    await clock.advance(60_000);
    expect(away.asked).toBeGreaterThan(3);
    expect(away.asked).toBeLessThan(12);
    const before = away.asked;
    await clock.advance(300_000);
    expect(away.asked).toBeGreaterThan(before);
    await clock.advance(3 * 3_600_000);
    expect(one.kept("x")).toEqual({ bytes: bytes(2) });
  });

  it("are not asked for any more when nobody needs them", async () => {
    const one = keeper();
    const away = module("a", bytes(1), 1_000);
    one.desire(new Map([["x", away]]));
    await clock.advance(1);
    one.desire(new Map());
    await clock.advance(3_600_000);
    expect(away.asked).toBe(1);
  });

  it("that are the same are kept once, and above the limit the new one is not there", async () => {
    const one = keeper({ modules: 3, bytes: 3, fetches: 1, ofNamespace: { modules: 4, bytes: 4, fetches: 1 } });
    one.desire(
      new Map([
        ["x", module("a", bytes(1, 1))],
        ["y", module("b", bytes(1, 1))],
        ["z", module("c", bytes(1, 2))],
        ["too many", module("d", bytes(1))],
      ]),
    );
    await clock.advance(1);
    expect(one.kept("y").bytes).toBe(one.kept("x").bytes);
    expect(one.kept("z")).toEqual({ problem: "there is no room for it: all modules of a cluster may have 3 bytes together" });
    expect(one.kept("too many")).toEqual({ problem: "the agent keeps 3 modules at most" });
    one.desire(new Map([["z", module("c", bytes(1, 2))]]));
    await clock.advance(400_000);
    expect(one.kept("z")).toEqual({ bytes: bytes(1, 2) });
  });

  it("are all given up with the keeper, by one listener however many they are", async () => {
    const given: string[] = [];
    const one = keeper({ modules: 20, bytes: 100, fetches: 20, ofNamespace: { modules: 20, bytes: 100, fetches: 20 } });
    const hanging = (name: string): DesiredModule => ({
      source: name,
      namespaces: new Set(["one"]),
      fetch: (signal) =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => {
            given.push(name);
            reject(signal.reason as Error);
          }),
        ),
    });
    const names = Array.from({ length: 20 }, (_, i) => `m${i}`);
    one.desire(new Map(names.map((name) => [name, hanging(name)])));
    await clock.advance(1);
    expect(getEventListeners(stopped.signal, "abort")).toHaveLength(1);
    stopped.abort();
    expect(given).toEqual(names);
  });

  it("that hang hold up as many others as are fetched at a time, until they are given up", async () => {
    const one = keeper({ modules: 10, bytes: 100, fetches: 1, ofNamespace: { modules: 10, bytes: 100, fetches: 1 } });
    const hanging: DesiredModule = {
      source: "a",
      namespaces: new Set(["one"]),
      fetch: (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    };
    const other = module("b", bytes(1));
    one.desire(
      new Map([
        ["x", hanging],
        ["y", other],
      ]),
    );
    await clock.advance(1_000);
    expect(other.asked).toBe(0);
    one.desire(new Map([["y", other]]));
    await clock.advance(1);
    expect(one.kept("y")).toEqual({ bytes: bytes(1) });
  });

  it("of one namespace hold up no other's, neither by hanging nor by their number", async () => {
    const one = keeper();
    const hanging = (i: number): [string, DesiredModule] => [
      `hangs${i}`,
      { source: `${i}`, namespaces: new Set(["greedy"]), fetch: () => new Promise(() => undefined) },
    ];
    const greedy = Array.from({ length: 1_000 }, (_, i) => hanging(i));
    one.desire(new Map(greedy));
    await clock.advance(1);
    one.desire(new Map([...greedy, ["x", module("a", bytes(1), 0, "small")], ["y", module("b", bytes(2), 0, "small")]]));
    await clock.advance(1);
    expect([one.kept("x"), one.kept("y")]).toEqual([{ bytes: bytes(1) }, { bytes: bytes(2) }]);
    expect(one.kept("hangs999")).toEqual({ problem: "the agent keeps 250 modules of a namespace at most" });
  });

  it("are fetched for each namespace in turn, and have a share of the bytes", async () => {
    const one = keeper({ modules: 10, bytes: 4, fetches: 1, ofNamespace: { modules: 10, bytes: 2, fetches: 1 } });
    const order: string[] = [];
    const logged = (source: string, namespace: string): [string, DesiredModule] => [
      source,
      {
        source,
        namespaces: new Set([namespace]),
        fetch() {
          order.push(source);
          return Promise.resolve(bytes(order.length));
        },
      },
    ];
    one.desire(new Map([logged("a1", "a"), logged("a2", "a"), logged("a3", "a"), logged("b1", "b"), logged("b2", "b")]));
    await clock.advance(1);
    expect(order).toEqual(["a1", "b1", "a2", "b2", "a3"]);
    expect(one.kept("a3")).toEqual({ problem: "there is no room for it: the modules of a namespace may have 2 bytes together" });
    expect(one.kept("b2").bytes).toBeDefined();
  });
});
