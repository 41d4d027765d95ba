import type { EndedInsight } from "@isthmus/insights";
import { describe, expect, it } from "vitest";
import { endedInsights } from "../src/sources/endedInsights.ts";

const ended = (clusterName: string, until: number): EndedInsight => ({
  object: { apiVersion: "v1", kind: "Service", name: `s${until}`, namespace: "ns", clusterName },
  code: "RES1003",
  severity: "error",
  field: "",
  message: "m",
  since: 0,
  until,
});
const many = (clusterName: string, count: number) => Array.from({ length: count }, (_, i) => ended(clusterName, 1_000 * (i + 5)));

describe("insights that have ended", () => {
  it("name the clusters of which there may have been more, and from when on all are known", () => {
    const shown = endedInsights()([...many("full", 100), ...many("", 99)]);
    expect(shown.ended).toHaveLength(199);
    expect(shown.forgotten).toEqual([{ cluster: "full", before: "1970-01-01T00:00:05.000Z" }]);
  });

  it("are the same lists while they are the same", () => {
    const shown = endedInsights();
    const list = many("a", 3);
    const first = shown(list);
    expect(shown([...list])).toBe(first);
    expect(shown(many("a", 4))).not.toBe(first);
  });
});
