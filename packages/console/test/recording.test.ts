import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Resource, refOf, snapshotOf } from "@isthmus/core";
import { afterAll, describe, expect, it } from "vitest";
import { eventsBetween } from "../src/events/changes.ts";
import { type FleetMoment, NO_INSIGHTS, NOTHING_KNOWN } from "../src/events/fleet.ts";
import { recordedSource } from "../src/sources/recording.ts";
import { readRecording, replayedSource } from "../src/sources/replayedSource.ts";
import { object } from "./consoleFixture.ts";

const directory = mkdtempSync(join(tmpdir(), "isthmus-recording-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const ABOUT = { kind: "server", name: "npm run demo", version: "1", namespace: "gloo-mesh" } as const;
const signal = new AbortController().signal;
const secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s", namespace: "shop", clusterName: "east" },
  data: { a: "c2VjcmV0" },
};

function moment(
  services: readonly string[],
  { insights = 0, more = {} }: { insights?: number; more?: Partial<FleetMoment> } = {},
): FleetMoment {
  const objects = services.map((name) => object("Service", name, { text: name }));
  const rows = objects.slice(0, insights).map((one) => {
    const ref = refOf(one);
    return [`${ref.kind} ${ref.name}`, { object: ref, insights: [{ object: ref, code: "RES1003", since: "" } as never] }] as const;
  });
  return {
    ...NOTHING_KNOWN,
    objects: new Map([["east", snapshotOf([...objects, secret as Resource])]]),
    generated: new Map([["", snapshotOf(objects.slice(0, 1))]]),
    insights: { ...NOTHING_KNOWN.insights, at: "now", objects: NO_INSIGHTS.with(rows) },
    certificates: [{ cluster: "east", kind: "root", name: services[0] ?? "" }] as never,
    ...more,
  };
}

/** All that a browser would be sent of a moment. */
const shown = (one: FleetMoment) => [...eventsBetween(NOTHING_KNOWN, one)].map(({ name, data }) => [name, JSON.parse(data)]);

async function recorded(moments: readonly (readonly [at: number, moment: FleetMoment])[]): Promise<string> {
  const lines: string[] = [];
  let at = 0;
  let now = NOTHING_KNOWN;
  const clock = { at: "then", clusters: [{ name: "east", at: "then" }] };
  const source = recordedSource(
    { about: ABOUT, read: async () => now, clock: () => clock },
    (line) => lines.push(line),
    () => at,
  );
  for ([at, now] of moments) await source.read(signal);
  const path = join(directory, `${Math.random()}.gz`);
  writeFileSync(path, gzipSync(`${lines.join("\n")}\n`));
  return path;
}

describe("a recording of what a console knew", () => {
  const [first, second, third] = [moment(["a", "b"], { insights: 2 }), moment(["a", "c"], { insights: 1 }), moment([])];

  it("shows at each time what was known then, and stands still at its end", async () => {
    const path = await recorded([
      [1_000, first],
      [1_500, first],
      [2_000, second],
      [3_000, third],
    ]);
    const recording = await readRecording(path);
    expect(recording.frames.map(({ at }) => at)).toEqual([1_000, 2_000, 3_000]);
    let time = 500_000;
    const { source, clock } = replayedSource(recording, { name: "file", clock: { now: () => time, sleep: async () => undefined } });
    expect(source.about).toEqual({ ...ABOUT, kind: "recording", name: "file" });
    for (const [after, wanted, then] of [
      [0, first, 1_000],
      [999, first, 1_999],
      [1_000, second, 2_000],
      [2_000, third, 3_000],
      [90_000, third, 3_000],
    ] as const) {
      time = 500_000 + after;
      expect(shown((await source.read(signal)) ?? NOTHING_KNOWN)).toEqual(shown(wanted));
      expect(clock.now()).toBe(then);
    }
    expect(source.clock().clusters).toEqual([{ name: "east", at: "then" }]);
  });

  it("costs what changes, has a frame every ten seconds, and no Secret", async () => {
    const lines: string[] = [];
    let at = 0;
    const source = recordedSource(
      { about: ABOUT, read: async () => first, clock: () => ({ at: "", clusters: [] }) },
      (line) => lines.push(line),
      () => at,
    );
    for (at = 0; at < 25_000; at += 330) await source.read(signal);
    expect(lines).toHaveLength(4);
    expect(lines.slice(2).every((line) => line.length < 100)).toBe(true);
    expect(lines.join()).not.toContain("c2VjcmV0");
  });

  it("is refused with the line that is wrong, and read without its last line where it was cut", async () => {
    const path = await recorded([[1, first]]);
    const write = (bytes: Uint8Array | string) => {
      writeFileSync(path, bytes);
      return path;
    };
    const head = JSON.stringify({ format: "isthmus-recording/1", about: ABOUT });
    const frame = { at: 2, clock: { at: "", clusters: [] } };
    const wrong: readonly (readonly [string, RegExp])[] = [
      ["{}", /line 1 is no part of a recording: it does not say isthmus-recording\/1/],
      [head, /a recording of nothing/],
      [`${head}\nnull`, /line 2 .*no time/],
      [`${head}\n${JSON.stringify(frame)}\n${JSON.stringify({ ...frame, at: 1 })}`, /line 3 .*an earlier one/],
      [`${head}\n${JSON.stringify({ ...frame, objects: { a: { put: [{ kind: "Pod" }], remove: [] } } })}`, /line 2 /],
      [
        `${head}\n${JSON.stringify({ ...frame, objects: { a: { put: [{ apiVersion: "v1", kind: "Pod", metadata: {} }], remove: [] } } })}`,
        /without apiVersion, kind or name/,
      ],
      ...[
        { certificates: {} },
        { activity: [{}] },
        { insights: { changed: {} } },
        { insights: { changed: [{ object: { kind: "Pod" }, insights: [] }] } },
      ].map((more): readonly [string, RegExp] => [`${head}\n${JSON.stringify({ ...frame, ...more })}`, /line 2 is no part of a recording/]),
    ];
    for (const [text, message] of wrong) await expect(readRecording(write(gzipSync(text)))).rejects.toThrow(message);
    await expect(readRecording(write("not packed"))).rejects.toThrow(/it is not compressed by gzip/);
    await expect(readRecording(join(directory, "missing"))).rejects.toThrow(/missing: ENOENT/);
    const whole = gzipSync(
      `${head}\n${JSON.stringify(frame)}\n${JSON.stringify({ ...frame, more: Math.random().toString().repeat(9_000) })}\n`,
    );
    expect((await readRecording(write(whole.subarray(0, whole.length - 30)))).frames.length).toBeGreaterThan(0);
  });
});
