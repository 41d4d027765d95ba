import { expect, it } from "vitest";
import { nearestName } from "./nearestName.ts";

it.each([
  ["productpge", ["reviews", "productpage"], "productpage"],
  ["GTE", ["POST", "GET"], "GET"],
  ["reviews", ["bookinfo-reviews"], "bookinfo-reviews"],
  // More than a third of the letters differ.
  ["bookinfo-productpge", ["bookinfo-reviews"], undefined],
  ["FETCH", ["PATCH"], undefined],
  ["cart", ["card"], "card"],
  ["cart", ["carry", "mars"], undefined],
])("of %s among %j means %s", (name, candidates, meant) => {
  expect(nearestName(name, candidates)).toBe(meant);
});

it("looks further where it is asked to", () => {
  expect(nearestName("FETCH", ["PATCH"], 1 / 2)).toBe("PATCH");
});
