import { describe, expect, it } from "vitest";
import { sessionRecord } from "../src/events/sessions.ts";
import type { ClusterClock } from "../src/wire.ts";

const up = (name: string, more: Partial<ClusterClock> = {}): ClusterClock => ({
  name,
  at: null,
  phase: "synced",
  connected: true,
  ...more,
});
const time = (second: number) => new Date(second * 1_000).toISOString();

function recorded(...states: readonly (readonly ClusterClock[])[]) {
  const record = sessionRecord();
  for (const [i, clusters] of states.entries()) record.observe({ now: time(i), clusters });
  return record.sessions;
}

const words = (sessions: ReturnType<typeof recorded>) =>
  sessions.events.map(({ at, cluster, what, detail }) =>
    [Date.parse(at) / 1_000, cluster, what, detail].filter((one) => one !== undefined).join(" "),
  );

describe("the record of sessions", () => {
  it("begins with nothing: since when something stands is not known", () => {
    expect(recorded()).toEqual({ since: null, events: [] });
    expect(recorded([up("a")])).toEqual({ since: time(0), events: [] });
  });

  it("tells what became of an agent, in the order in which it was seen", () => {
    const seen = recorded(
      [up("a", { replica: "one" })],
      [up("a", { replica: "one" }), up("b", { phase: "unknown" })],
      [up("a", { replica: "two", version: "1" }), up("b")],
      [up("a", { connected: false, phase: "stale" }), up("b")],
      [up("a", { replica: "two", phase: "unknown", version: "2" }), up("b")],
      [up("a", { replica: "two", version: "3" })],
    );
    expect(words(seen)).toEqual([
      "1 b added",
      "1 b connected",
      "2 a moved two",
      "2 b synced",
      "3 a disconnected",
      "4 a connected two",
      "4 a resyncing",
      "5 a synced",
      "5 a updated 3",
      "5 b removed",
    ]);
  });

  it("tells nothing while nothing changes, nor of what is not known", () => {
    const bare: ClusterClock = { name: "a", at: null };
    expect(recorded([bare], [{ ...bare, at: time(5) }], [bare]).events).toEqual([]);
    expect(words(recorded([bare], [up("a")], [bare]))).toEqual(["1 a connected", "2 a disconnected"]);
  });

  it("keeps a hundred events of each cluster, and forgets clusters that are gone before those that are there", () => {
    const record = sessionRecord(2);
    for (let i = 0; i < 300; i++) {
      const flapping = up("flaps", { connected: i % 2 === 0 });
      record.observe({ now: time(i), clusters: i < 20 ? [flapping] : [flapping, up(`passing-${i}`)] });
    }
    const { events } = record.sessions;
    const names = new Set(events.map(({ cluster }) => cluster));
    expect(names.size).toBe(2);
    expect(names.has("flaps")).toBe(true);
    expect(events.filter(({ cluster }) => cluster === "flaps")).toHaveLength(100);
  });

  it("cuts names that agents and servers say", () => {
    const [event] = recorded([], [up("a", { replica: "x".repeat(10_000) })]).events.slice(1);
    expect(event?.detail).toHaveLength(100);
  });
});
