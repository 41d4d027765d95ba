import { snapshotOf } from "@isthmus/core";
import { heldBy, longText, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { momentHistory } from "../src/events/history.ts";
import { sessionRecord } from "../src/events/sessions.ts";
import { momentOf, object } from "./consoleFixture.ts";

const iso = (minute: number) => new Date(minute * 60_000).toISOString();

// Each is filled with the longest texts that it takes, beyond its bound. What is allowed is twice what the bound says.

test("earlier moments of a fleet", async () => {
  const mostChanges = 5_000;
  // Of 4 KiB each.
  const bytes = mostChanges * 4_096;
  const held = await heldBy(() => {
    const history = momentHistory({ mostChanges });
    for (let minute = 0; minute < 60; minute++) {
      const objects = Array.from({ length: 3 }, (_, i) => object("Service", `s${i}`, { text: longText(minute * 3 + i) }));
      const moment = { ...momentOf([]), objects: new Map([["east", snapshotOf(objects)]]) };
      history.add(moment, { now: iso(minute), at: iso(minute), clusters: [] } as never);
    }
    expect(history.times.length).toBeGreaterThan(3);
    return history;
  });
  expect(held).toBeLessThan(2 * bytes);
});

test("what became of sessions of agents", async () => {
  // A hundred events of each cluster, with 100 letters and a name.
  const clusters = 20;
  const bytes = clusters * 100 * (100 + 253 + 200);
  const held = await heldBy(() => {
    const record = sessionRecord(clusters);
    for (let i = 0; i < 120; i++) {
      const about = { at: null, connected: true, phase: "synced", replica: longText(i, MEBIBYTE / 4), version: longText(i, MEBIBYTE / 4) };
      const all = Array.from({ length: clusters }, (_, cluster) => ({ name: `cluster-${cluster}`, ...about }));
      record.observe({ now: iso(i), clusters: all } as never);
    }
    expect(record.sessions.events).toHaveLength(clusters * 100);
    // What is known now is the fleet's.
    record.observe({ now: iso(200), clusters: [] });
    return record;
  });
  expect(held).toBeLessThan(2 * bytes + 2 * MEBIBYTE);
});
