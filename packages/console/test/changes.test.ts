import { emptySnapshot, type Resource, refOf, snapshotOf } from "@isthmus/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventsBetween } from "../src/events/changes.ts";
import { type FleetMoment, NO_INSIGHTS, NOTHING_KNOWN } from "../src/events/fleet.ts";
import { eventsIn, folded, momentOf, object } from "./consoleFixture.ts";

function received(before: Parameters<typeof eventsBetween>[0], after: Parameters<typeof eventsBetween>[1]) {
  const text = [...eventsBetween(before, after)].map(({ name, data }) => `event: ${name}\ndata: ${data}\n\n`).join("");
  return eventsIn(text);
}

const namesIn = (snapshot: ReturnType<typeof folded>) =>
  [...snapshot.collections()]
    .flatMap(([kind, collection]) => [...collection].map((one) => `${kind}/${one.metadata.name}/${JSON.stringify(one)}`))
    .sort();

describe("the events between two moments", () => {
  it("make the one of the other, whatever they hold, and nothing of what is the same", () => {
    const world = fc.uniqueArray(
      fc.record({
        kind: fc.constantFrom("Service", "Pod"),
        name: fc.constantFrom("a", "b", "c", "d"),
        port: fc.nat(2),
        part: fc.constantFrom("x", "y"),
      }),
      {
        selector: ({ kind, name }) => `${kind}/${name}`,
      },
    );
    fc.assert(
      fc.property(world, world, (first, second) => {
        const moment = (objects: typeof first) => ({
          ...NOTHING_KNOWN,
          objects: new Map(
            ["x", "y"].map((part) => [
              part,
              snapshotOf(objects.filter((one) => one.part === part).map(({ kind, name, port }) => object(kind, name, { port }))),
            ]),
          ),
        });
        const [before, after] = [moment(first), moment(second)];
        const all = folded(received(NOTHING_KNOWN, after));
        expect(namesIn(folded([...received(NOTHING_KNOWN, before), ...received(before, after)]))).toEqual(namesIn(all));
        expect(received(after, after)).toEqual([]);
      }),
    );
  });

  it("say what happened in a cluster when it is said again, and when nothing is known any more", () => {
    const activity = (cluster: string) => ({ cluster, at: "2026-01-01T00:00:00Z", sync: [1], syncBounds: [] });
    const [east, west] = [activity("east"), activity("west")];
    const before: FleetMoment = {
      ...NOTHING_KNOWN,
      activity: new Map([
        ["east", east],
        ["west", west],
      ]),
    };
    const told = (one: FleetMoment, other: FleetMoment) =>
      received(one, other).map(({ event: name, data }) => [
        name,
        (data as { cluster: string; at: string | null }).cluster,
        (data as { at: string }).at,
      ]);
    expect(told(NOTHING_KNOWN, before)).toEqual([
      ["activity", "east", east.at],
      ["activity", "west", west.at],
    ]);
    const newer = { ...west, at: "2026-01-01T00:01:00Z" };
    expect(told(before, { ...before, activity: new Map([["west", newer]]) })).toEqual([
      ["activity", "west", newer.at],
      ["activity", "east", null],
    ]);
    expect(told(before, { ...before, activity: new Map(before.activity) })).toEqual([]);
  });

  it("cost what changed, and are of bounded size", () => {
    const many = Array.from({ length: 5_000 }, (_, i) => object("Service", `s${i}`, { text: "x".repeat(200) }));
    const before = momentOf(many);
    const whole = [...eventsBetween(NOTHING_KNOWN, before)];
    expect(whole.length).toBeGreaterThan(20);
    for (const { data } of whole) expect(data.length).toBeLessThan(160 * 1024);
    const snapshot = before.objects.get("cluster cluster-1") as ReturnType<typeof snapshotOf>;
    const one = object("Service", "s17", { text: "changed" });
    const after = {
      ...before,
      objects: new Map([["cluster cluster-1", snapshot.apply({ put: [one], remove: [refOf(many[4] as Resource)] })]]),
    };
    expect(received(before, after)).toEqual([
      { id: undefined, event: "change", data: { put: [], remove: [refOf(many[4] as Resource)] } },
      { id: undefined, event: "change", data: { put: [one], remove: [] } },
    ]);
  });

  it("give what no one could have meant as data: names of a megabyte, scripts, direction marks, half characters", () => {
    const names = [
      "n".repeat(1024 * 1024),
      "</script><script>alert(1)</script>",
      "\u202eevil\u2066",
      "\ud800",
      "a\nevent: reset\ndata: {}\n\n",
      "__proto__",
    ];
    const events = received(NOTHING_KNOWN, momentOf(names.map((name) => object("Service", name))));
    expect(events.flatMap(({ data }) => data.put.map((one: Resource) => one.metadata.name)).sort()).toEqual([...names].sort());
    expect(events.every(({ event }) => event === "change")).toBe(true);
  });

  it("hold nothing of a Secret, wherever one is, and no token or password", () => {
    const secret = object("Secret", "ca", { data: { "ca-key.pem": "CANARY-1" }, stringData: { token: "CANARY-2" } });
    const annotated = {
      ...secret,
      metadata: { ...secret.metadata, name: "annotated", annotations: { "kubectl.kubernetes.io/last-applied-configuration": "CANARY-3" } },
    };
    const list = { apiVersion: "v1", kind: "SecretList", metadata: { name: "list" }, items: [secret] } as Resource;
    const anyList = { apiVersion: "v1", kind: "List", metadata: { name: "any" }, items: [secret] } as Resource;
    const others = [
      {
        ...object("Service", "applied"),
        metadata: { name: "applied", annotations: { "kubectl.kubernetes.io/last-applied-configuration": "CANARY-4" } },
      },
      object("Pod", "environment", { spec: { containers: [{ env: [{ name: "X", value: "CANARY-5" }], args: ["--password=CANARY-6"] }] } }),
      object("ConfigMap", "key", {
        data: { file: "-----BEGIN PRIVATE KEY-----\nCANARY-7\n-----END PRIVATE KEY-----", address: "https://me:CANARY-8@host/" },
      }),
      object("Thing", "token", { spec: { joinToken: "CANARY-9", header: "Bearer CANARY-10-0123456789" } }),
    ] as Resource[];
    const snapshot = snapshotOf([secret, annotated, list, anyList, ...others]);
    const moment = { ...momentOf([]), objects: new Map([["all", snapshot]]), generated: new Map([["", snapshot]]) };
    const nothing = { ...moment, objects: new Map([["all", emptySnapshot()]]), generated: new Map() };
    const text = [...eventsBetween(NOTHING_KNOWN, moment), ...eventsBetween(moment, nothing)].map(({ data }) => data).join("\n");
    expect(text).not.toContain("CANARY");
    expect(text).not.toMatch(/"Secret"/);
    expect(text).toContain("environment");
  });

  it("say of insights what changed, and of which moment they are", () => {
    const of = (name: string, messages: readonly string[]) => {
      const ref = refOf(object("Service", name));
      const insights = messages.map((message) => ({ code: "BP0001", message, object: ref, since: "2026-01-01T00:00:00.000Z" }));
      return [`/Service|${name}.bookinfo.cluster-1`, { object: ref, insights }] as unknown as readonly [string, never];
    };
    const table = NO_INSIGHTS.with([of("a", ["one"]), of("b", ["two"])]);
    const before = momentOf([], { insights: { at: "2026-01-01T00:00:00.000Z", objects: table, unknown: [], ended: [], forgotten: [] } });
    const after = momentOf([], {
      insights: {
        at: "2026-01-01T00:00:01.000Z",
        objects: table.with([[of("a", [])[0], undefined]]),
        unknown: ["cluster-2"],
        ended: [],
        forgotten: [],
      },
    });
    expect(received(NOTHING_KNOWN, before)[0]?.data.changed).toHaveLength(2);
    expect(received(before, { ...after, objects: before.objects })).toMatchObject([
      {
        event: "insights",
        data: { at: "2026-01-01T00:00:01.000Z", unknown: ["cluster-2"], changed: [{ object: { name: "a" }, insights: [] }] },
      },
    ]);
    expect(received(before, before)).toEqual([]);
  });
});

it("sends insights that have ended once, each, and all to one who begins", () => {
  const object = { apiVersion: "v1", kind: "Service", name: "a", namespace: "b", clusterName: "c" };
  const ended = Array.from({ length: 450 }, (_, i) => ({
    object,
    code: "RTE1001" as const,
    severity: "error" as const,
    field: "",
    message: String(i),
    since: "2026-01-01T00:00:00.000Z",
    until: "2026-01-01T00:00:01.000Z",
  }));
  const insights = { ...NOTHING_KNOWN.insights, ended: ended.slice(0, 449) };
  const before = momentOf([], { insights });
  const after = momentOf([], { insights: { ...insights, ended: ended.slice(1) } });
  const messages = (from: FleetMoment, to: FleetMoment) =>
    [...eventsBetween(from, to)].flatMap(({ name, data }) =>
      name === "ended" ? [(JSON.parse(data) as readonly { readonly message: string }[]).map(({ message }) => message)] : [],
    );
  expect(messages(NOTHING_KNOWN, before).map(({ length }) => length)).toEqual([200, 200, 49]);
  expect(messages(before, after)).toEqual([["449"]]);
  expect(messages(after, after)).toEqual([]);
});
