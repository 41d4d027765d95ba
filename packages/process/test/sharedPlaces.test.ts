import { expect, it } from "vitest";
import { sharedPlaces } from "../src/sharedPlaces.ts";

it("one user cannot take the places of others, and places that are given back are free", () => {
  const places = sharedPlaces({ inAll: 3, ofOne: 2 });
  const [first, second] = [places.take("alice"), places.take("alice")];
  expect([first, second].every((release) => release !== undefined)).toBe(true);
  expect(places.take("alice")).toBeUndefined();
  const bob = places.take("bob");
  expect([bob !== undefined, places.take("carol"), places.taken]).toEqual([true, undefined, 3]);
  first?.();
  expect([places.take("carol") !== undefined, places.taken]).toEqual([true, 3]);
  for (const release of [second, bob]) release?.();
  expect([places.take("alice") !== undefined, places.take("alice") !== undefined, places.taken]).toEqual([true, true, 3]);
});

it("without a name all are one, and may have all places", () => {
  const places = sharedPlaces({ inAll: 2, ofOne: 1 });
  expect([places.take(undefined) !== undefined, places.take(undefined) !== undefined, places.take(undefined)]).toEqual([
    true,
    true,
    undefined,
  ]);
});
