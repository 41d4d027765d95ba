import { EventEmitter } from "node:events";
import { allKinds, Secret } from "@isthmus/api";
import { systemClock } from "@isthmus/plane";
import { simulatedCluster } from "@isthmus/simulator";
import { describe, expect, it } from "vitest";
import { Interrupted, interruptible, interruptsOf, orInterrupted } from "../src/cluster/interruption.ts";

describe("an interrupt", () => {
  it("ends the command in order; a second one, or another signal, ends the process at once", () => {
    const exits: unknown[] = [];
    const told: string[] = [];
    const process = Object.assign(new EventEmitter(), { exit: (code: unknown) => exits.push(code) });
    const catchInterrupts = interruptsOf(process as never, (line) => told.push(line));
    expect(process.listenerCount("SIGINT")).toBe(0);
    const signal = catchInterrupts();
    expect(catchInterrupts()).toBe(signal);
    process.emit("SIGINT");
    expect([signal.reason, exits, told]).toEqual([expect.any(Interrupted), [], ["interrupted: ending in order; once more ends at once"]]);
    process.emit("SIGTERM");
    expect(exits).toEqual([130]);
  });

  it("does not wait for a call that hears no signal, and leaves none behind that fails", async () => {
    const interrupt = new AbortController();
    let fail: (error: Error) => void = () => undefined;
    const silence = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const cluster = simulatedCluster({ name: "", clock: systemClock, kinds: allKinds() });
    const never = { get: () => silence, create: () => silence, servedKinds: () => silence };
    const stopped = interruptible({ ...cluster, ...never }, interrupt.signal, { losesWrites: true });
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "one", namespace: "a" } };
    const calls = [
      stopped.get(Secret, secret.metadata),
      stopped.create(secret),
      stopped.servedKinds(),
      orInterrupted(() => silence, interrupt.signal),
    ];
    interrupt.abort(new Interrupted("interrupted"));
    for (const call of calls) await expect(call).rejects.toBeInstanceOf(Interrupted);
    // Nobody hears it any more: it must not end the process.
    fail(new Error("too late"));
    await new Promise(setImmediate);
  });

  it("lets a write end that is on its way, and nothing begin", async () => {
    const cluster = simulatedCluster({ name: "", clock: systemClock, kinds: allKinds() });
    cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "a" } }]);
    const interrupt = new AbortController();
    const stopped = interruptible(cluster, interrupt.signal);
    const ref = { name: "one", namespace: "a" };
    const writing = stopped.create({ apiVersion: "v1", kind: "Secret", metadata: ref });
    interrupt.abort(new Interrupted("interrupted"));
    await expect(writing).resolves.toMatchObject({ metadata: ref });
    await expect(stopped.create({ apiVersion: "v1", kind: "Secret", metadata: { name: "two", namespace: "a" } })).rejects.toBeInstanceOf(
      Interrupted,
    );
    await expect(stopped.get(Secret, ref)).rejects.toBeInstanceOf(Interrupted);
    expect((await cluster.list(Secret)).items.map(({ metadata }) => metadata.name)).toEqual(["one"]);
  });
});
