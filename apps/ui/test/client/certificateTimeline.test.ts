import { expect, it } from "vitest";
import { certificateTimeline } from "../../client/model/certificateTimeline.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const HOUR = 3_600_000;
const ending = (name: string, hours: number) => ({
  kind: "agent" as const,
  cluster: "east",
  name,
  notAfter: new Date(NOW + hours * HOUR).toISOString(),
});

it("puts each certificate into the span in which it ends, what ends first first, and nothing twice", () => {
  const certificates = [
    ...[ending("later", 24 * 400), ending("year", 24 * 365), ending("month", 24 * 8), ending("week", 24 * 7), ending("next", 25)],
    ...[ending("day", 24), ending("hour", 1), ending("now", 0), ending("past", -1)],
    { kind: "joinToken" as const, cluster: "east", name: "endless" },
  ];
  const spans = certificateTimeline(certificates, NOW);
  expect(spans.map(({ id, ends }) => [id, ends.map(({ certificate }) => certificate.name)])).toEqual([
    ["ended", ["past", "now"]],
    ["day", ["hour", "day"]],
    ["week", ["next", "week"]],
    ["month", ["month"]],
    ["year", ["year"]],
    ["later", ["later"]],
    ["endless", ["endless"]],
  ]);
  expect(spans[0]?.ends.map(({ status }) => status.tone)).toEqual(["bad", "bad"]);
  expect(spans[1]?.ends.map(({ status }) => status.tone)).toEqual(["good", "good"]);
});

it("has all spans where there is nothing", () => {
  expect(certificateTimeline([], NOW).map(({ ends }) => ends.length)).toEqual([0, 0, 0, 0, 0, 0]);
});
