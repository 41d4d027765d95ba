import { expect, test } from "vitest";
import { eventHub } from "../src/runtime/eventHub.ts";

interface Events {
  readonly changed: readonly [name: string, count: number];
  readonly due: readonly [];
}

test("listeners are called in order before emit returns, each with the values of its own type of event", () => {
  const events = eventHub<Events>();
  const seen: string[] = [];
  events.emit("changed", "before anybody listens", 0);
  events.on("changed", (name, count) => seen.push(`first ${name} ${count}`));
  events.on("changed", (name) => seen.push(`second ${name}`));
  events.on("due", () => seen.push("due"));
  events.emit("changed", "a", 1);
  expect(seen).toEqual(["first a 1", "second a"]);
  events.emit("due");
  expect(seen).toEqual(["first a 1", "second a", "due"]);
});

test("a fault of a listener reaches the one who emits", () => {
  const events = eventHub<Events>();
  events.on("due", () => {
    throw new Error("ours");
  });
  expect(() => events.emit("due")).toThrow("ours");
});
