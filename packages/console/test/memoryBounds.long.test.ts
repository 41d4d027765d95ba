import { randomBytes } from "node:crypto";
import { KubernetesCluster, kindOf } from "@isthmus/api";
import { noSignals, snapshotOf } from "@isthmus/core";
import { ACTIVITY_MINUTES, type ClusterActivity, MOST_ACTIVITY_EDGES } from "@isthmus/plane";
import { heldBy, longText, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { consoleEvent } from "../src/events/changes.ts";
import { eventLog } from "../src/events/eventLog.ts";
import { momentHistory } from "../src/events/history.ts";
import { segmentOf } from "../src/events/segment.ts";
import { sessionRecord } from "../src/events/sessions.ts";
import { startSessions } from "../src/login/sessions.ts";
import { shownActivity } from "../src/sources/activity.ts";
import { viewerRights } from "../src/viewers/rights.ts";
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

test("events that browsers may still take", async () => {
  const mostBytes = 4 * MEBIBYTE;
  // Many small ones beside those of others that nobody keeps, and few that hardly get smaller.
  for (const [events, letters, mostEvents] of [
    [3_000, 40, 2_000],
    [200, 96 * 1_024, 2_000],
  ] as const) {
    const held = await heldBy(async () => {
      const kept = eventLog({ mostEvents, mostBytes });
      for (let i = 0; i < events; i++) {
        kept.append(await segmentOf(consoleEvent("clock", { now: randomBytes(letters).toString("base64") } as never), `e-${i}`));
        if (i % 8 === 0) await segmentOf(consoleEvent("clock", { now: longText(i, 4_000) } as never), `other-${i}`);
      }
      expect(kept.holds(1)).toBe(false);
      return kept;
    });
    expect(held).toBeLessThan(2 * mostBytes);
  }
});

test("sessions of those who have logged in", async () => {
  const most = 1_000;
  // Each with a token, which comes in a form of 32 KiB at the most, and a name.
  const bytes = most * (32 * 1_024 + 2 * 253 + 500);
  const held = await heldBy(() => {
    const nothing = () => undefined;
    const clock = { now: () => 0, sleep: () => new Promise<never>(nothing) };
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
    const sessions = startSessions({ reviews: { whoBears: () => Promise.reject() }, clock, log }, new AbortController().signal);
    const opened = Array.from({ length: most + 200 }, (_, i) => {
      const form = new URLSearchParams(`next=/&token=${longText(i, 30_000)}`);
      const question = { token: form.get("token")?.trim() ?? "", audience: "console", isEncrypted: true };
      return sessions.open({ username: longText(i, 253), groups: [longText(i, 253)] }, question);
    });
    expect(opened.filter((secret) => secret !== undefined)).toHaveLength(most);
    return sessions;
  });
  expect(held).toBeLessThan(2 * bytes);
});

test("what one user may see", async () => {
  // 5,000 answers, and as many namespaces that count or do not; of two names of 253 letters.
  const bytes = 2 * 5_000 * (2 * 253 + 200);
  const held = await heldBy(async () => {
    const rights = viewerRights({
      user: { username: "alice" },
      // Every cluster is seen, and in no namespace anything.
      reviews: { may: async (_, { verb }) => verb === "get" },
      kindOf,
      registration: KubernetesCluster,
      namespace: "gloo-mesh",
      countedNamespaces: async () => new Set(Array.from({ length: 6_000 }, (_, i) => namespace(i))),
    });
    function namespace(i: number): string {
      return `${i}-`.padEnd(253, "n");
    }
    const place = (i: number) => ({
      ...{ apiVersion: "v1", kind: "Service" },
      ...{ namespace: namespace(i), clusterName: `${i % 30}-`.padEnd(253, "c") },
    });
    for (let i = 0; i < 40_000; i += 1_000) {
      await rights.learn(
        Array.from({ length: 1_000 }, (_, at) => place(i + at)),
        new AbortController().signal,
      );
    }
    expect(rights.isExhausted).toBe(true);
    return rights;
  });
  expect(held).toBeLessThan(2 * bytes);
});

test("the last moments of the edges of a cluster", async () => {
  // Thirty moments of two numbers for each edge, under six names of 253 letters.
  const bytes = MOST_ACTIVITY_EDGES * (30 * 2 * 8 + 6 * 253 * 2);
  const name = (i: number) => `${i}-`.padEnd(253, "n");
  const signals = ACTIVITY_MINUTES.map(() => noSignals());
  const activityAt = (minute: number, edges: NonNullable<ClusterActivity["traffic"]>["edges"]): ClusterActivity => {
    const windows = ACTIVITY_MINUTES.map((minutes) => ({ minutes, seconds: 100 }));
    return { clusterName: "east", at: minute * 60_000, sync: [], traffic: { windows, targets: 1, scraped: 1, left: 0, edges } };
  };
  const held = await heldBy(() => {
    const shown = shownActivity();
    for (let minute = 0; minute < 60; minute++) {
      const edges = Array.from({ length: MOST_ACTIVITY_EDGES }, (_, i) => {
        const of = name(minute * MOST_ACTIVITY_EDGES + i);
        const edge = { sourceNamespace: of, sourceWorkload: of, namespace: of, service: of, workload: of, cluster: of };
        return { edge, signals };
      });
      shown(new Map([["east", activityAt(minute, edges)]]));
    }
    // The last one is shown, and is no part of the series.
    shown(new Map([["east", activityAt(60, [])]]));
    return shown;
  });
  expect(held).toBeLessThan(2 * bytes);
});
